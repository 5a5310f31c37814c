"""What each turn of Hanabi, CollabCapture and CollabEscape cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from games.coordination.capture.rules import CaptureState
from games.coordination.hanabi.rules import HanabiState
from games.coordination.value.capture import turns_left
from games.coordination.value.escape import EscapeTurn, EscapeWorth, turn_worths
from games.coordination.value.hanabi import ceilings
from ingest.coordination.parts import BENCHMARK, Valued

__all__ = ["CaptureTurn", "capture_values", "escape_values", "hanabi_values"]


class CaptureTurn(NamedTuple):
    """A turn as logged."""

    number: int
    before: CaptureState
    after: CaptureState
    captured: bool


def hanabi_values(states: Sequence[HanabiState]) -> Iterator[list[Valued]]:
    """Value the turns between states of a game, in points; all are bounds."""
    for before, after in pairwise(ceilings(states)):
        yield [
            Valued(f"{BENCHMARK}.hanabi_{name}", was, now, was - now, "points", "bound")
            for name, was, now in zip(before._fields, before, after, strict=True)
        ]


def capture_values(turn: CaptureTurn) -> list[Valued]:
    """Value a turn."""
    before, after = turns_left(turn.before, first=turn.number == 1), 0.0 if turn.captured else turns_left(turn.after, first=False)
    return [Valued(f"{BENCHMARK}.capture_turns", before, after, _lost(before, after), "turns")]


def escape_values(turns: Sequence[EscapeTurn]) -> Iterator[tuple[Valued, ...]]:
    """Value turns: what the players' choice did, and what the killer's draw did after it."""
    for worth, exact in turn_worths(turns):
        yield _of_worth(worth, "exact" if exact else "bound")


@lru_cache(maxsize=4096)  # positions come again, in other games too
def _of_worth(worth: EscapeWorth, kind: str) -> tuple[Valued, ...]:
    chosen, drawn = worth.chance_before - worth.chance_chosen, worth.chance_chosen - worth.chance_after
    return (
        Valued(f"{BENCHMARK}.escape_chance", worth.chance_before, worth.chance_chosen, chosen, "probability", kind),
        Valued(f"{BENCHMARK}.escape_luck", worth.chance_chosen, worth.chance_after, drawn, "probability", kind),
        Valued(f"{BENCHMARK}.escape_turns", worth.mean_before, worth.mean_chosen, worth.mean_chosen - worth.mean_before, "turns", kind),
        Valued(
            f"{BENCHMARK}.escape_turns_after",
            worth.mean_before,
            worth.mean_after,
            _lost(worth.mean_before, worth.mean_after),
            "turns",
            kind,
        ),
        Valued(f"{BENCHMARK}.escape_best", worth.best_before, worth.best_after, _lost(worth.best_before, worth.best_after), "turns", kind),
        Valued(f"{BENCHMARK}.escape_sure", worth.sure_before, worth.sure_after, _lost(worth.sure_before, worth.sure_after), "turns", kind),
    )


def _lost(before: float, after: float) -> float | None:
    """Turns lost; None where neither value is finite."""
    return None if math.inf == before == after else 1 + after - before
