"""How often reports claim a difference where there is none: stores of equal teams in several worlds, read by the reports themselves.

`python -m research null` draws stores in which nothing differs and nothing goes together, and asks the code of `cotrace report all` for
every statement that has a p-value (`analytics.ledger`) and for the headlines. Teams are equal on each task; tasks differ in score, and
apart from that in how often an action is refused; messages, progress and actions are drawn independently. A statement is false if its
corrected p is below .05. `a report`: share of the stores in which at least one sentence of that report is false, by the p-value that it
prints, corrected for the report's own rows. `ledger`: the same of all statements together, by `p_all`. An interval covers if it holds the
true value: no difference, no association, the mean score of the world. `power`: share of the stores in which one team is shown to differ
that is worse by .2, in `plain` with 6 teams.

Options: `--stores N` a world (default 20), `--write`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.comparison.compare import compare, is_shown
from analytics.installation import ensure_installed
from analytics.ledger import CLAIMED, claims
from analytics.query import query
from research.pages import put
from schemas.records import Action, Episode, Json, Run, Turn, Utterance
from schemas.store import batches
from schemas.store.store import Store

Floats = NDArray[np.float64]
_STARTED: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - stored without a zone
_TABLES: Final = ("runs", "episodes", "turns", "actions", "utterances")
_SURE: Final = 0.05
_DEFICIT: Final = 0.2
_NAMES: Final = ("compare", "effects", "correlations", "mediation", "transitions", "survival")


class World(NamedTuple):
    """Equal teams on tasks of unlike difficulty."""

    teams: int = 6
    tasks: int = 12
    turns: int = 8
    shared: float = 1.0
    """Chance that a team has played a task."""
    ceiling: bool = False
    """Whether most scores are 1."""
    crashes: float = 0.0
    """Share of the games with a score of 0."""
    heavy: bool = False
    """Whether a few tasks decide: errors of a t distribution with two degrees of freedom."""
    refused: tuple[float, float] = (2.0, 6.0)
    """Beta distribution of the tasks' shares of refused actions."""
    deficit: float = 0.0
    """By how much the first team is worse: no null, for power."""


WORLDS: Final[dict[str, World]] = {
    "plain": World(),
    "3 teams, unequal tasks": World(teams=3, shared=0.7),
    "15 teams, unequal tasks": World(teams=15, shared=0.7),
    "40 teams": World(teams=40, tasks=16, turns=4),
    "ceilings": World(ceiling=True),
    "crashes": World(crashes=0.1),
    "heavy tails": World(heavy=True),
    "refusals by task level": World(refused=(0.4, 0.6), turns=12),
}


class Seen(NamedTuple):
    """What the reports make of one store."""

    false: dict[str, bool]
    """Report, `headline` or `ledger` -> whether something differs by the report."""
    covers: dict[str, list[bool]]
    """Kind of interval -> whether each holds the truth."""


def _scores(world: World, level: Floats, random: np.random.Generator) -> Floats:
    """One game on each task of these levels."""
    error = random.standard_t(2, len(level)) * 0.08 if world.heavy else random.normal(0, 0.15, len(level))
    score = np.clip(level + error, 0, 1)
    score = np.where(world.ceiling & (score > 0.8), 1.0, score)
    return np.where(random.random(len(level)) < world.crashes, 0.0, score)


def _levels(world: World, tasks: int, random: np.random.Generator) -> Floats:
    return random.beta(8, 1, tasks) if world.ceiling else random.beta(3, 3, tasks)


def true_mean(world: World) -> float:
    """Mean score over all tasks that there could be."""
    random = np.random.default_rng(1)
    return float(_scores(world, _levels(world, 400_000, random), random).mean())


def fill(store: Store, world: World, random: np.random.Generator) -> None:
    """Put the games of a world in the place of those that are there."""
    level = _levels(world, world.tasks, random)
    refused = random.beta(*world.refused, world.tasks)
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in _TABLES}
    for team in range(world.teams):
        rows["runs"].append(Run(f"r{team}", "einstein", "c", Json("{}"), _STARTED))
        scores = np.maximum(_scores(world, level, random) - (world.deficit if team == 0 else 0), 0)
        for task in np.flatnonzero(random.random(world.tasks) < world.shared).tolist():
            for name, some in _game((team, task), float(scores[task]), refused[task], world.turns, random).items():
                rows[name] += some
    checked = batches.to_arrow(rows)
    with store.writing() as connection:
        for name in _TABLES:
            connection.execute(f"DELETE FROM {name}")
        batches.insert(connection, checked)
    ensure_installed(store)


def _game(
    side: tuple[int, int], score: float, refused: float, turns: int, random: np.random.Generator
) -> dict[str, list[tuple[object, ...]]]:
    team, task = side
    name = f"{team}.{task}"
    players = Json(f'{{"director": "m{team}", "builder": "b"}}')
    rows: dict[str, list[tuple[object, ...]]] = {"turns": [], "actions": [], "utterances": []}
    rows["episodes"] = [
        Episode(name, f"r{team}", "drawn", "einstein", f"t{task}", None, f"m{team}", players, 1, 20, turns, score > 0.5, score,
                None, None, None, Json("{}"), f"{name}.json", _STARTED)
    ]  # fmt: skip
    for turn, progress in enumerate(np.cumsum(random.random(turns) < 0.4) / turns, start=1):
        state = Json(f'"{random.integers(6)}"')
        accepted, words = bool(random.random() >= refused), int(random.integers(3, 30))
        rows["turns"].append(
            Turn(name, turn, state, state, oracle_available=False, oracle_followed=None, progress=float(progress), goal_reached=False,
                 error=None, at=None)
        )  # fmt: skip
        rows["actions"].append(
            Action(name, turn, 1, "Builder", "place", Json("{}"), None, accepted, undoes=False, error_code=None if accepted else "E",
                   error_text=None)
        )  # fmt: skip
        rows["utterances"].append(
            Utterance(name, turn, 1, "Director", "public", ["Director"], " ".join(["word"] * words), None, superseded=False)
        )
    return rows


def seen(store: Store, mean: float) -> Seen:
    """What the ledger and the headlines say of a store, and what its intervals hold."""
    found = claims(store)
    tested = found.drop_nulls("p")
    false = {name: bool((tested.filter(report=name)["p_family"] < _SURE).any()) for name in CLAIMED if name in tested["report"]}
    false["ledger"] = bool(tested["shown"].any())
    front = found.filter(found["estimand"].str.starts_with("front page: Which"))["sentence"]
    false["headline"] = any(" is behind " in sentence for sentence in front)
    covers: dict[str, list[bool]] = defaultdict(list)
    for row in tested.drop_nulls(["low", "high"]).iter_rows(named=True):
        covers[row["report"]].append(row["low"] <= (row["report"] == "survival") <= row["high"])
    board = query(store, "SELECT score_low, score_high FROM leaderboard WHERE score_low IS NOT NULL").rows()
    covers["leaderboard"] = [low <= mean <= high for low, high in board]
    return Seen(false, dict(covers))


def lines(stores: int = 20, seed: int = 2026, worlds: Sequence[str] = tuple(WORLDS)) -> Iterator[str]:
    """Tables of false statements and of coverage by world."""
    random = np.random.default_rng(seed)
    columns = (*_NAMES, "headline", "ledger")
    results: dict[str, list[Seen]] = {}
    yield f"share of stores with a false statement, {stores} stores a world, {stores * len(worlds)} in all"
    yield f"{'':<26}" + "".join(f"{name:>14}" for name in columns)
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "null.duckdb")
        store.create()
        for name in worlds:
            results[name] = []
            for _ in range(stores):
                fill(store, WORLDS[name], random)
                results[name].append(seen(store, true_mean(WORLDS[name])))
            yield _false(name, columns, results[name])
        yield _false("all", columns, [one for found in results.values() for one in found])
        kinds = (*_NAMES, "leaderboard")
        yield "\ncoverage of 95 % intervals (those outside .93 to .97 have a star)"
        yield f"{'':<26}" + "".join(f"{name:>14}" for name in kinds)
        for name, found in results.items():
            shares = [_share([held for one in found for held in one.covers.get(kind, [])], star=True) for kind in kinds]
            yield f"{name:<26}" + "".join(f"{text:>14}" for text in shares)
        powers = []
        for _ in range(2 * stores):
            fill(store, World(deficit=_DEFICIT), random)
            shown = compare(store)
            powers.append(any(is_shown(row) and "m0" in row["team_b"] for row in shown.iter_rows(named=True)))
        yield f"\npower of compare, 6 teams, 12 tasks, one worse by {_DEFICIT:g}, {2 * stores} stores: {_share(powers)}"


def _false(name: str, columns: Sequence[str], found: Sequence[Seen]) -> str:
    return f"{name:<26}" + "".join(f"{_share([one.false[column] for one in found if column in one.false]):>14}" for column in columns)


def _share(values: Sequence[bool], *, star: bool = False) -> str:
    if not values:
        return "-"
    mean = float(np.mean(values))
    return f"{mean:.3f}" + ("*" if star and not 0.93 <= mean <= 0.97 else "")


def main(arguments: Sequence[str]) -> int:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--stores", type=int, default=20)
    asked, left = parser.parse_known_args(arguments)
    return put("null", lines(asked.stores), left)
