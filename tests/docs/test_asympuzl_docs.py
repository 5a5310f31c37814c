"""docs/asympuzl.md names every label, persona and mode, and its example runs."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from games.asympuzl.game import FEEDBACK_MODES
from games.asympuzl.labels import Label
from games.asympuzl.players import PERSONAS
from ingest.asympuzl.records import GameRecord, ResultRecord, TurnRecord
from tests.places import DOCS

PAGE = (DOCS / "asympuzl.md").read_text(encoding="utf-8")
PLANTED = (DOCS / "dev/planted_labels.md").read_text(encoding="utf-8")


def names_under(heading: str, page: str = PAGE) -> set[str]:
    """First cells of the table rows, or names of the list items, under a heading."""
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^(?:\||-) `(\w+)`(?: \||:)", section, re.MULTILINE))


def test_every_label_has_its_line() -> None:
    """Those by rule, and the one that needs a judge."""
    assert names_under("Derived labels") == {*get_args(Label), "assumes_shared_view"}


def test_every_persona_has_its_line() -> None:
    """One row per scripted player."""
    assert names_under("AsymPuzl: scripted players", PLANTED) == set(PERSONAS)


def test_every_mode_is_named() -> None:
    """In the rules."""
    assert all(f"`{mode}`" in PAGE for mode in FEEDBACK_MODES)


@pytest.mark.parametrize(
    ("record", "words"), [(GameRecord, "a `game` line"), (TurnRecord, "a `turn` line"), (ResultRecord, "a `result` line")]
)
def test_required_fields_are_named(record: type[GameRecord | TurnRecord | ResultRecord], words: str) -> None:
    """Exactly those without which a line is rejected."""
    rules = (DOCS / "dev" / "benchmark_rules.md").read_text(encoding="utf-8")
    listed = rules.partition("## Published logs of AsymPuzl")[2].partition(f"{words}: ")[2]
    named = set(re.findall(r"`(\w+)`", re.split(r"[;.]", listed)[0]))
    required = {field.alias or name for name, field in record.model_fields.items() if field.is_required()}
    assert named == required - {"type"}


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Two idle agents with three positions: six turns, one of six entries right."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/asympuzl.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "max_turns 6 0.17\n"
