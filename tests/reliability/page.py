"""docs/dev/reliability.md: a section a command, each written by the command itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from tests.places import DOCS

_PAGE: Final = DOCS / "dev" / "reliability.md"
_MARK: Final = "\n## "
_PREFACE: Final = """# Reliability

What was tried on cotrace, what failed, and the worst that happened. Each section is written by the command it names (with `--write`), and
says how much was tried; a small part of each runs among the tests. Run them again after a change: they need no network and no model.
What has no section here has not been run at its full size.
"""
SECTIONS: Final = ("fuzz", "faults", "kills", "soak")


def table(section: str) -> list[tuple[str, ...]]:
    """The rows of a section's table as they stand on the page, without the heading."""
    parts = _PAGE.read_text("utf-8").split(_MARK)[1:]
    lines = next((part.splitlines() for part in parts if part.partition("\n")[0] == section), [])
    return [tuple(line.strip("| ").split(" | ")) for line in lines if line.startswith("| ")][2:]


def put(section: str, command: str, rows: Sequence[Sequence[object]], notes: Sequence[str] = ()) -> None:
    """Put a section into the page in place of its older one; the first row is the heading."""
    parts = _PAGE.read_text("utf-8").split(_MARK)[1:] if _PAGE.exists() else []
    known = {part.partition("\n")[0]: part.strip("\n") for part in parts}
    heading, *lines = [f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |" for row in rows]
    table = "\n".join([heading, "|" + " --- |" * len(rows[0]), *lines])
    known[section] = "\n\n".join([section, f"`{command}`, {_where()}", table, *notes])
    _PAGE.write_text(_PREFACE + "".join(f"{_MARK}{known[name]}\n" for name in SECTIONS if name in known), encoding="utf-8")


def _where() -> str:
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python {python}."
