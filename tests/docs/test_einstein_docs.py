"""docs/einstein.md names every difference of the rules, every label and every persona, and its example runs."""

from __future__ import annotations

import re
from dataclasses import fields

from games.einstein.engine.table import Rules
from games.einstein.labels import CATEGORIES, EXTENSIONS, NO_ERROR
from games.einstein.players.personas import PERSONAS
from tests.places import DOCS

PAGE = (DOCS / "einstein.md").read_text(encoding="utf-8")
RULES = (DOCS / "dev/benchmark_rules.md").read_text(encoding="utf-8")
PLANTED = (DOCS / "dev/planted_labels.md").read_text(encoding="utf-8")


def table_after(heading: str, page: str = PAGE) -> set[str]:
    """First cells of the table rows between a marker and the next heading or table."""
    lines = page.partition(heading)[2].lstrip("\n").split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("|---"))
    rows = lines[start + 1 :]
    end = next((number for number, line in enumerate(rows) if not line.startswith("|")), len(rows))
    return {row.split("|")[1].strip(" `") for row in rows[:end]}


def test_every_difference_of_the_rules_has_its_line() -> None:
    """One row per field of ``Rules``."""
    assert {field.name for field in fields(Rules)} == table_after("## Einstein Puzzles", RULES)


def test_every_label_has_its_line() -> None:
    """The paper's categories and the additional ones."""
    assert {*(category.key for category in CATEGORIES), NO_ERROR} == table_after("## Error taxonomy")
    assert set(EXTENSIONS) == table_after("Additional labels")


def test_every_persona_has_its_line() -> None:
    """One row per scripted player."""
    assert set(PERSONAS) == table_after("## Einstein Puzzles: scripted players", PLANTED)


def test_the_example_runs() -> None:
    """Two idle players never solve a puzzle."""
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    scope: dict[str, object] = {}
    exec(example[1].replace("print", "result = "), scope)  # noqa: S102 - our own page

    assert scope["result"] == ("step_limit", False)
