"""Pages of the documentation that modules and their messages name are there."""

from __future__ import annotations

import re

from tests.places import ROOT

ROOMS = ("cotrace", "dashboards", "analytics", "judges", "ingest", "games", "providers", "schemas")
PAGE = re.compile(r"\bdocs/[\w/]+\.(?:md|ipynb|svg|png)")


def test_every_page_that_is_named_is_there() -> None:
    """Whoever is sent to a page finds it."""
    files = [path for room in ROOMS for kind in ("py", "sql", "yaml") for path in (ROOT / room).rglob(f"*.{kind}")]
    named = {(str(path.relative_to(ROOT)), page) for path in files for page in PAGE.findall(path.read_text("utf-8"))}
    assert len(named) > 50
    assert [(path, page) for path, page in sorted(named) if not (ROOT / page).is_file()] == []
