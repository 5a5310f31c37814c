"""The time limit as the published evaluation applies it, after the game (formats/overcooked.md, section 7.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from games.overcooked.engine.tasks import Task
from games.overcooked.measures.collaboration import TimestepOutput


@dataclass(frozen=True, slots=True)
class Recorded:
    """An action that the engine recorded."""

    timestamp: int
    """Index of the executing step + 1, except of the last delivery, which has the index of its step (section 2.1)."""

    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """What the metrics need of a game."""

    task: Task
    finished: bool
    """The order was delivered, in time or not."""

    timestamps: Sequence[int]
    """One for each executed step."""

    recorded: tuple[Sequence[Recorded], Sequence[Recorded]]
    """Per agent."""

    messages: Sequence[tuple[Sequence[TimestepOutput], Sequence[TimestepOutput]]]
    """Per step and agent whose turn it was: its output and the conversation it opened."""

    calls: Sequence[tuple[bool, bool]]
    """Per step and agent: a conversation was opened."""

    errors: Mapping[str, Sequence[tuple[int, int]]]
    """``validator`` and ``format``: per step and agent how many errors of that kind."""

    score: float
    """Points at the end, as logged; cutting does not reset it."""

    horizon: int
    """Steps after which the engine stops."""


def finished_in_time(game: GameRecord) -> bool:
    """Tell whether the order was delivered within the time limit: the index of the last step is at most the limit."""
    return game.finished and bool(game.timestamps) and game.timestamps[-1] <= game.task.time_limit


def cut_to_limit(game: GameRecord) -> GameRecord | None:
    """Give the game up to the time limit, which it then failed; None if that changes nothing."""
    limit = game.task.time_limit
    if finished_in_time(game):
        return None
    first, second = ([entry for entry in actions if entry.timestamp < limit] for actions in game.recorded)
    cut = replace(
        game,
        finished=False,
        timestamps=range(min(limit, len(game.timestamps))),
        recorded=(first, second),
        messages=game.messages[:limit],
        calls=game.calls[:limit],
        errors={kind: counts[:limit] for kind, counts in game.errors.items()},
    )
    same = not game.finished and len(game.timestamps) <= limit and [len(actions) for actions in game.recorded] == [len(first), len(second)]
    return None if same else cut
