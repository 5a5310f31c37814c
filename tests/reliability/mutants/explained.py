"""Mutants that no test can notice, and why: they compute the same, or only other code that does not exist could bring them to light."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.reliability.mutants.changes import Mutant

__all__ = ["EXPLAINED", "why_it_survives"]

EXPLAINED: Final[Mapping[tuple[str, str, str], str]] = {
    ("schemas/tables.py", "return []", "returns None"): "Pandera takes no checks for none",
    ("providers/journal.py", "if whole < len(content):", "Lt -> LtE"): "cutting a file to the length that it has changes nothing",
    (
        "games/craft/engine/checks.py",
        'return {"span_to": move.span_to} if board.height(_span_to(move)) >= MAX_HEIGHT else None',
        "returns None",
    ): "L7 cannot be reached behind P3 and L6; a test says so",
    (
        "analytics/judging/verdicts_latest.sql",
        "or exists (select 1 from turns where turns.episode_id = latest.episode_id and turns.turn = latest.turn)",
        "1 -> 2",
    ): "what is selected under EXISTS does not matter",
    (
        "games/einstein/engine/puzzle.py",
        'name = written.rsplit("/", 1)[-1].split(".", 1)[0]',
        "1 -> 2",
    ): "the first and the last part are the same, however often the text is split",
}
"""File, its line, the change -> why."""


def why_it_survives(root: Path, one: Mutant) -> str | None:
    """The reason; None if there is none, so that a test is missing."""
    line = (root / one.path).read_text("utf-8").splitlines()[one.line - 1].strip()
    if one.change == "True -> False" and "strict=True" in line:
        return "a guard: nothing gives it lists of different lengths"
    return EXPLAINED.get((one.path, line, one.change))
