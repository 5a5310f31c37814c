"""Games that are played again from the replies in their log: what comes out, and where the log says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

from games.players.course import Course, play_again
from ingest.cotrace_log.derivation import BadTurnError, Derived
from ingest.reading.json_text import dumps, loads
from schemas.game import STOPPED, End, Header, Turn, header_line, turn_line
from schemas.records import LogDisagreement

__all__ = ["Again", "derived", "played_again"]

_NOT_COMPARED: Final = frozenset(("calls", "replies", "labels"))
"""What is not the game's: who answered and at what price, and what scripts meant."""

_END: Final = ("success", "score", "stop_reason", "turns_taken")

Rows = dict[str, list[tuple[Any, ...]]]


class Again(NamedTuple):
    """A game that was played again."""

    turns: Sequence[Turn]
    end: End | None
    """None: the log breaks off before the end."""
    left_out: frozenset[str] = frozenset()
    """Parts of a turn that could not be made again."""


def played_again(course: Course, turns: Sequence[Turn]) -> Again:
    """Play a game again.

    Raises:
        BadTurnError: from a turn on its replies are not those that the game asks for.
    """
    again = play_again(course, turns)
    if again.fault is not None:
        raise BadTurnError(again.fault, len(again.turns))
    return Again(again.turns, again.end)


def derived(
    logged: tuple[Header, Sequence[Turn], End | None], rebuilt: Header, again: Again, episode: str, rows: Mapping[str, Sequence[Any]]
) -> Derived:
    """Give what a game's rules say of a log.

    Args:
        logged: what the log says.
        rebuilt: the header of the game that was played again.
        again: that game.
        episode: its id.
        rows: tables and rows of the family's own.
    """
    header, turns, end = logged
    family: Rows = {table: list(found) for table, found in rows.items()}
    family["log_disagreements"] = [
        *family.get("log_disagreements", []),
        *_header_differences(header, rebuilt, episode),
        *(row for pair in zip(turns, again.turns, strict=True) for row in _turn_differences(*pair, episode, again.left_out)),
        *_end_differences(end, again.end, episode),
    ]
    final = end or again.end
    return Derived(
        progress=[turn.progress for turn in again.turns],
        success=None if final is None else final.success,
        score=None if final is None else final.score,
        rows=family,
    )


def _header_differences(header: Header, rebuilt: Header, episode: str) -> Iterator[LogDisagreement]:
    logged, due = (loads(header_line(one)) for one in (header, rebuilt))
    facts = {name: (logged["task"].get(name), due["task"].get(name)) for name in ("level", "goal")}
    facts["max_turns"] = (logged["max_turns"], due["max_turns"])
    facts["agents"] = ([agent["agent"] for agent in logged["agents"]], [agent["agent"] for agent in due["agents"]])
    for mine, theirs in zip(logged["agents"], due["agents"], strict=False):
        facts[f"private_view.{theirs['agent']}"] = (mine["private_view"], theirs["private_view"])
    return _differing(facts, episode, None)


def _turn_differences(turn: Turn, again: Turn, episode: str, left_out: frozenset[str]) -> Iterator[LogDisagreement]:
    logged, due = (loads(turn_line(_as_played(one))) for one in (turn, again))
    facts = {name: (logged[name], due[name]) for name in due if name not in _NOT_COMPARED | left_out}
    return _differing(facts, episode, turn.turn)


def _as_played(turn: Turn) -> Turn:
    """The turn without how replies were read: older logs do not say it, and what came of them is compared."""
    return replace(turn, actions=[replace(done, read=None, used=None) for done in turn.actions])


def _end_differences(end: End | None, again: End | None, episode: str) -> Iterator[LogDisagreement]:
    if end is None or end.stop_reason == STOPPED:
        return
    due = {} if again is None else asdict(again)
    yield from _differing({_END_NAMES.get(name, name): (getattr(end, name), due.get(name)) for name in _END}, episode, None)


_END_NAMES: Final = {"success": "completed", "score": "final_progress"}


def _differing(facts: Mapping[str, tuple[Any, Any]], episode: str, turn: int | None) -> Iterator[LogDisagreement]:
    for field, (logged, found) in facts.items():
        if logged != found:
            yield LogDisagreement(episode, turn, field, dumps(logged), None if found is None else dumps(found))
