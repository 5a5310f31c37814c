"""What a benchmark adds to cotrace's own log: the numbers that replaying its game gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol

from games.players.course import Course, play_again
from ingest.reading.text import dumps, loads
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.game import STOPPED, End, Header, Turn, header_line, turn_line
from schemas.records import Failure, LogDisagreement


class BadTurnError(BadInputError):
    """A turn that the benchmark's rules cannot read; the locator is relative to its line."""

    def __init__(self, error: BadInputError, index: int) -> None:
        super().__init__(error.reason, locator=error.locator, excerpt=error.excerpt)
        self.index = index
        """Which of the turns, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What a benchmark's rules give for a logged game."""

    progress: Sequence[float | None]
    """Progress after each turn, 0 to 1; None where it is not known."""
    success: bool | None
    """The goal was reached: as the log's end states or, without one, as the rules ended the game. None: the end is not known."""
    score: float | None
    """The benchmark's main metric at the end; None if no turn was played or the end is not known."""
    rows: Mapping[str, list[tuple[object, ...]]]
    """Table name -> records: metrics, failures, candidates, disagreements. What is measured at the end is there only if that is known."""
    details: Mapping[str, object] = field(default_factory=dict)
    """What else the episode has, for `episodes.details`."""


class Derivation(Protocol):
    """Replays a game of one benchmark."""

    def __call__(self, header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
        """Replay a game; ``end`` is None while it runs or if it was cut.

        Raises:
            BadTurnError: a turn cannot be read by the benchmark's rules; those before it can.
            BadInputError: the game cannot be replayed at all.
        """
        ...


def lost_replies(turn: Turn) -> dict[str, str]:
    """Agent -> why its answer may be lost by no fault of its own: its call failed or its reply was cut, and no whole one was unreadable."""
    found = {}
    unreadable = {call.agent for call in turn.calls if call.read == "unreadable"}
    for call in turn.calls:
        if call.agent in unreadable:
            continue
        if call.status != "answered":
            found[call.agent] = f"its call failed ({excerpt(call.error or call.status)})"
        elif call.finish_reason == "length":
            found[call.agent] = f"its reply was cut at {call.tokens_out} tokens"
    return found


def without_lost_replies(failures: Iterable[Failure], turns: Sequence[Turn], unreadable: str) -> list[Failure]:
    """The failures of a game, of which those of an answer that was lost are the harness's: `lost_reply` of `<benchmark>_harness`.

    Args:
        failures: of its turns.
        turns: its turns.
        unreadable: the category of an answer that cannot be read.
    """
    lost = {(turn.turn, agent): why for turn in turns for agent, why in lost_replies(turn).items()}
    found = []
    for failure in failures:
        why = lost.get((failure.turn, failure.agent or "")) if failure.category == unreadable else None
        harness = f"{failure.taxonomy.partition('_')[0]}_harness"
        found.append(failure if why is None else failure._replace(taxonomy=harness, category="lost_reply", evidence=why))
    return found


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
        logged: what the log states.
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
    logged, due = (
        loads(turn_line(replace(one, actions=[replace(done, read=None, used=None) for done in one.actions]))) for one in (turn, again)
    )
    facts = {name: (logged[name], due[name]) for name in due if name not in _NOT_COMPARED | left_out}
    return _differing(facts, episode, turn.turn)


def _end_differences(end: End | None, again: End | None, episode: str) -> Iterator[LogDisagreement]:
    if end is None or end.stop_reason == STOPPED:
        return
    due = {} if again is None else asdict(again)
    yield from _differing({_END_NAMES.get(name, name): (getattr(end, name), due.get(name)) for name in _END}, episode, None)


_END_NAMES: Final = {"success": "completed", "score": "final_progress"}


def _differing(facts: Mapping[str, tuple[Any, Any]], episode: str, turn: int | None) -> Iterator[LogDisagreement]:
    for column, (logged, found) in facts.items():
        if logged != found:
            yield LogDisagreement(episode, turn, column, dumps(logged), None if found is None else dumps(found))
