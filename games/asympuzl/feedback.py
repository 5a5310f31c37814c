"""What agents are told about the previous turn: six modes (format description, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, wrong_positions

FeedbackMode = Literal["none", "own", "own_detailed", "joint", "both", "both_detailed"]
FEEDBACK_MODES: Final[tuple[FeedbackMode, ...]] = get_args(FeedbackMode)

PAPER_NAMES: Final[Mapping[FeedbackMode, str]] = {
    "none": "No feedback",
    "own": "Own",
    "own_detailed": "Own Detailed",
    "joint": "Joint",
    "both": "Both",
    "both_detailed": "Both detailed",
}
"""Names in the heads of the paper's tables."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a mode reveals; None where it does not."""

    a_ok: bool | None = None
    b_ok: bool | None = None
    all_ok: bool | None = None
    wrong_a: tuple[int, ...] | None = None
    """Wrong positions of A, from 1."""

    wrong_b: tuple[int, ...] | None = None

    def to_json(self) -> dict[str, object]:
        """Only what is revealed."""
        facts = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in facts.items() if fact is not None}


def feedback(mode: FeedbackMode, agent: Agent, hypotheses: Mapping[Agent, Sequence[Entry]], puzzle: Puzzle) -> Feedback | None:
    """What the agent is told of the hypotheses at the end of the previous turn; None: nothing."""
    wrong = {each: wrong_positions(hypotheses[each], puzzle.truth) for each in AGENTS}
    if mode == "none":
        return None
    if mode == "joint":
        return Feedback(all_ok=not wrong["A"] and not wrong["B"])
    told = AGENTS if mode in ("both", "both_detailed") else (agent,)
    detailed = mode in ("own_detailed", "both_detailed")
    return Feedback(
        a_ok=not wrong["A"] if "A" in told else None,
        b_ok=not wrong["B"] if "B" in told else None,
        wrong_a=wrong["A"] if detailed and "A" in told else None,
        wrong_b=wrong["B"] if detailed and "B" in told else None,
    )


def feedback_lines(told: Feedback, mode: FeedbackMode) -> list[str]:
    """The feedback in words, each a line of the prompt."""
    if told.all_ok is not None:
        return [f"The puzzle is {_status(ok=told.all_ok)}."]
    parts = {"A": (told.a_ok, told.wrong_a), "B": (told.b_ok, told.wrong_b)}
    known = {name: (ok, wrong) for name, (ok, wrong) in parts.items() if ok is not None}
    if mode in ("own", "own_detailed"):
        ((ok, wrong),) = known.values()
        return [f"Your part of the puzzle is {_status(ok=ok)}.", *_wrong_line("Wrong positions", wrong)]
    sentence = ", and ".join(f"Agent {name}'s part of the puzzle is {_status(ok=ok)}" for name, (ok, _) in known.items())
    lines = [f"{sentence}."]
    for name, (_, wrong) in known.items():
        lines += _wrong_line(f"Wrong positions of Agent {name}", wrong)
    return lines


def _status(*, ok: bool) -> str:
    return "solved" if ok else "unsolved"


def _wrong_line(head: str, wrong: tuple[int, ...] | None) -> list[str]:
    return [f"{head}: {', '.join(map(str, wrong))}."] if wrong else []
