"""Planted games played again with one turn mended: what of a cost comes back when only that turn's broken link is whole.

The faulty player is faultless in one turn; what comes before is the same game to the letter, and what is lost up to the turn that was
charged is compared. So a cost that does not come back was put down to the wrong link, or to the wrong turn.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from analytics.installation import ensure_installed
from analytics.losses.accuracy import costs_by_turn, planted_faults, turns_at_work
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store

_NOTHING: Final = 1e-9
_TRIED: Final = 3
"""Turns that are mended in a game in which the faulty player was not charged: the costliest in which its fault was at work."""


class MendedTurn(NamedTuple):
    """A turn in which the faulty player was faultless."""

    episode: str
    charged: float
    """What that player was charged with for the turn that is looked at; 0 if it was not."""

    back: float
    """What the game lost less up to that turn."""


class _Trial(NamedTuple):
    place: int
    episode: str
    mended: int
    """The turn that is mended: the last one up to `costly` in which the fault was at work, where logs tell."""

    costly: int
    charged: float


def mended_turns(family: ModuleType, folder: Path, store: Store, episodes: Sequence[str], seed: int) -> list[MendedTurn]:
    """Play each game again with the turn mended for which its faulty player was charged most, else with those in which it may have cost.

    Args:
        family: its module `planted`.
        folder: for logs and store.
        store: the attributed games.
        episodes: their ids, by place.
        seed: theirs.
    """
    trials = _trials(store, episodes)
    report = family.play_planted(folder / "mended", len(episodes), seed, fixed=[(trial.place, trial.mended) for trial in trials])
    again = Store(folder / "mended.duckdb")
    ingest_paths([folder / "mended"], again)
    ensure_installed(again)
    mended = episodes_of(again, folder / "mended", report.paths)
    before, after = costs_by_turn(store), costs_by_turn(again)
    return [
        MendedTurn(trial.episode, trial.charged, _up_to(before[trial.episode], trial.costly) - _up_to(after.get(other, {}), trial.costly))
        for trial, other in zip(trials, mended, strict=True)
    ]


def episodes_of(store: Store, folder: Path, paths: Sequence[Path]) -> list[str]:
    """The games of these files, in their order."""
    by_file = dict(query(store, "SELECT file, episode_id FROM episodes").rows())
    return [by_file[str(path.relative_to(folder))] for path in paths]


def _up_to(costs: Mapping[int, float], turn: int) -> float:
    return sum(cost for when, cost in costs.items() if when <= turn)


def _trials(store: Store, episodes: Sequence[str]) -> list[_Trial]:
    faults = planted_faults(store)
    at_work, costs = turns_at_work(store, faults), costs_by_turn(store)
    charges: dict[str, dict[int, float]] = {}
    for episode, turn, agent, cost in query(
        store, "SELECT episode_id, turn, agent, sum(cost) FROM attributions WHERE cost > 0 AND isfinite(cost) GROUP BY ALL ORDER BY ALL"
    ).rows():
        if agent == faults[episode][1].agent:
            charges.setdefault(episode, {})[turn] = cost
    found: list[_Trial] = []
    for place, episode in enumerate(episodes):
        charged, working = charges.get(episode, {}), at_work.get(episode, set())
        if charged:
            costly = max(charged, key=lambda turn: charged[turn])
            mended = max((turn for turn in working if turn <= costly), default=costly)
            found.append(_Trial(place, episode, mended, costly, charged[costly]))
            continue
        lost = {turn: cost for turn, cost in costs.get(episode, {}).items() if cost > _NOTHING}
        suspects = [turn for turn in lost if (turn in working if at_work else turn >= faults[episode][1].turn)]
        tried = sorted(suspects, key=lambda turn: -lost[turn])[:_TRIED]
        found += [_Trial(place, episode, turn, turn, 0.0) for turn in tried]
    return found
