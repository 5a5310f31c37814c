"""Sentences that are false, or true only of pooled data, stand nowhere: neither in docs nor in what reports and pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.places import DOCS, ROOT

NO_BETTER = re.compile(
    r"(?:no|a) judge (?:can|could)(?:not)? (?:be expected to )?(?:do|agree|be) (?:any )?better"
    r"|can(?:not| hardly)? be expected to (?:do better|agree (?:better|more))"
    r"|(?:is|are|as) (?:the|an) (?:upper (?:bound|limit)|ceiling) (?:of|for) (?:any|every|a|the)? ?judges?",
    re.IGNORECASE,
)
"""People who err each on their own agree less with each other than a good judge agrees with their consensus."""
WRITTEN = sorted(
    path
    for folder in ("analytics", "cotrace", "dashboards", "docs", "judges", "schemas")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".sql", ".yaml", ".ipynb", ".js", ".html"}
)


def test_nobody_says_that_people_s_agreement_bounds_a_judge_s() -> None:
    """In code, docs and pages."""
    assert len(WRITTEN) > 300
    said = {path.name: found[0] for path in [*WRITTEN, ROOT / "README.md"] if (found := NO_BETTER.search(one_line(path)))}
    assert said == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "people agree in 61 %: no judge can be expected to do better",
        "No judge could do better than that.",
        "Agreement of people is the ceiling for any judge",
    ],
)
def test_the_check_would_find_it(sentence: str) -> None:
    """A check that finds nothing anywhere shows nothing."""
    assert NO_BETTER.search(sentence)


def test_the_pooled_correlation_of_the_remove_gap_is_never_said_alone() -> None:
    """Over all games r is -0.50, and inside the teams it is not: wherever the number stands, so does what it is a difference of."""
    paragraphs = (DOCS / "dev/remove_gap.md").read_text(encoding="utf-8").split("\n\n")
    with_it = [paragraph for paragraph in paragraphs if re.search(r"[-−]0?\.50\b", paragraph)]
    assert with_it
    assert [
        paragraph for paragraph in with_it if "difference between four teams" not in paragraph or "Inside the teams" not in paragraph
    ] == []
    elsewhere = [path.name for path in WRITTEN if path.suffix == ".md" and path.name != "remove_gap.md" and _SAID.search(one_line(path))]
    assert elsewhere == []


_SAID = re.compile(r"remove gap[^.]{0,120}\br\b[^.]{0,20}[-−]0?\.50\b", re.IGNORECASE)


def one_line(path: Path) -> str:
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
