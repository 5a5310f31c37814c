"""How well attribution finds planted faults, and how well judges and rules of thumb name decisive errors.

`python -m benchmarks.attribution` plays games with exactly one faulty player of every family, attributes them, and prints the tables of
docs/attribution.md; `--write` puts them there, `--games N` plays N games a family instead of 200, `--seed S` others. Labelled runs of
Who&When are scored where `../shared/data/whoandwhen` is, or where `--labelled PATH` says. It takes about five minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.losses.accuracy import accuracy_report
from analytics.losses.truths import planted_faults, turns_at_work
from analytics.query import query
from analytics.statistics.intervals import wilson
from analytics.views import ensure_installed
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.families import modules, title_of
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Proof", "main", "proof_of"]

_PAGE: Final = Path("docs/attribution.md")
_MARKS: Final = ("<!-- proven: begin -->", "<!-- proven: end -->")
_LABELLED: Final = Path("../shared/data/whoandwhen")
_HEADS: Final = (
    "family",
    "games with a cost: most of it is the faulty one's",
    "games dearer than their twin",
    "games in which an agent has a cost",
    "cost: faulty",
    "without fault",
    "nobody's",
    "undecided",
    "first faulty turn within 1",
    "lost a game",
    "put down to the fault",
    "more than its twin",
    "mended, less than half comes back",
)
_TITLES: Final = {"whoandwhen": "Who&When, the half in `data/whoandwhen`"}
_NOTES: Final = """
*Games with a cost*: all that lost anything; those in which no agent was given a cost count as not found. A game can lose without its
fault (what nobody could see costs faultless teams, too), and a fault need not cost anything: so the second column has the games that lost
more than their twins, and the third those in which an agent was given a cost.
*More than its twin*: what a game lost more, on the average, than the same game (same seed, same partners) with a faultless player there.
*Mended*: of the games in which the faulty player was given a cost, those in which less than half of it comes back when the game is played
again with that player mended: there, what was said of whose the cost was did not hold.
"""
_NOTHING: Final = 1e-9
_NEAR: Final = 1
"""Turns by which the first faulty turn may be missed."""


class Proof(NamedTuple):
    """What attribution made of games with one planted fault each."""

    games: int
    costly: int
    """Games that lost something."""
    dearer: int
    """Of them, those that lost more than their twins."""
    dearer_right: int
    named: int
    """Games in which an agent was given a cost."""
    right: int
    """Of them, those in which the planted one has the most."""
    charged: int
    """Games in which the planted one was given a cost."""
    kept: int
    """Of them, those that lose more than half of it still, with that player mended."""
    cost: float
    planted: float
    """Share of the cost that is put down to the planted player."""
    innocent: float
    nobody: float
    undecided: float
    timed: int
    """Games whose log tells in which turns the fault shows."""
    found: int
    """Of them, those whose first faulty turn was found within one turn, with or without a cost."""


def proof_of(store: Store, twins: Mapping[str, float]) -> Proof:
    """Score an attributed store of games with one planted fault each.

    Args:
        store: holds the games.
        twins: game -> what its twin lost: the same game, with a faultless player in the faulty one's place.
    """
    faults = planted_faults(store)
    rows = query(store, "SELECT episode_id, turn, agent, link, cost FROM attributions ORDER BY ALL").rows()
    kinds = dict.fromkeys(("planted", "innocent", "nobody", "undecided"), 0.0)
    costs: dict[str, dict[str, float]] = {}
    first: dict[str, int] = {}
    for episode, turn, agent, link, cost in rows:
        planted = faults[episode][1].agent
        kind = "undecided" if link == "undecided" else "nobody" if agent is None else "planted" if agent == planted else "innocent"
        kinds[kind] += cost
        if agent is not None and cost > 0:
            costs.setdefault(episode, {})[agent] = costs.get(episode, {}).get(agent, 0.0) + cost
        if agent == planted:
            first[episode] = min(first.get(episode, turn), turn)
    total = sum(kinds.values())
    right = {episode for episode, agents in costs.items() if max(agents, key=lambda agent: agents[agent]) == faults[episode][1].agent}
    lost = {episode: loss for episode, loss in lost_by_game(store).items() if loss > _NOTHING}
    dearer = {episode for episode, loss in lost.items() if loss > twins[episode] + _NOTHING}
    charged = {episode: cost for episode in costs if (cost := costs[episode].get(faults[episode][1].agent, 0.0)) > 0}
    at_work = {episode: min(turns) for episode, turns in turns_at_work(store, faults).items()}
    found = [episode in first and abs(first[episode] - turn) <= _NEAR for episode, turn in at_work.items()]
    shares = {kind: cost / total if total else 0.0 for kind, cost in kinds.items()}
    return Proof(
        games=len(faults),
        costly=len(lost),
        dearer=len(dearer),
        dearer_right=len(dearer & right),
        named=len(costs),
        right=len(right),
        charged=len(charged),
        kept=sum(lost[episode] - twins[episode] < cost / 2 for episode, cost in charged.items()),
        cost=total,
        planted=shares["planted"],
        innocent=shares["innocent"],
        nobody=shares["nobody"],
        undecided=shares["undecided"],
        timed=len(found),
        found=sum(found),
    )


def main() -> int:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attribution", description=__doc__)
    parser.add_argument("--games", type=int, default=160, help="games with a planted fault of each family")
    parser.add_argument("--seed", type=int, default=2026, help="of those games")
    parser.add_argument("--labelled", type=Path, default=_LABELLED, help="labelled runs of Who&When")
    parser.add_argument("--write", action="store_true", help=f"into {_PAGE}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(_tables(Path(folder), options.games, options.seed, options.labelled))
    if options.write:
        page = _PAGE.read_text(encoding="utf-8")
        before, rest = page.split(_MARKS[0])
        _PAGE.write_text(f"{before}{_MARKS[0]}\n\n{text}\n{_MARKS[1]}{rest.split(_MARKS[1])[1]}", encoding="utf-8")
    else:
        sys.stdout.write(f"{text}\n")
    return 0


def _tables(folder: Path, games: int, seed: int, labelled: Path) -> Iterator[str]:
    yield "## Proven against planted faults\n"
    yield f"{games} games a family, each with exactly one faulty player (seed {seed}; `python -m benchmarks.attribution --write`).\n"
    yield f"| {' | '.join(_HEADS)} |\n|{'---|' * len(_HEADS)}"
    accuracies = []
    for family, found in modules("games", "planted"):
        store, twins = planted_store(found, folder / family, games, seed)
        yield _row(family, proof_of(store, twins), sum(twins.values()) / len(twins))
        accuracies.append(accuracy_report(store))
    yield _NOTES
    if labelled.exists():
        accuracies.insert(0, accuracy_report(_attributed(labelled, folder / "labelled.duckdb")))
    yield "\n## Decisive errors\n\nShare of games in which agent and turn are named, with 95 % intervals over games.\n"
    yield "| truth | games | judge | agent | very turn | within 1 | within 3 | within 5 |\n|---|---|---|---|---|---|---|---|"
    for rows in accuracies:
        yield from _accuracy(rows)


def _attributed(logs: Path, place: Path) -> Store:
    store = Store(place)
    ingest_paths([logs], store)
    ensure_installed(store)
    attribute_games(store)
    return store


def planted_store(family: ModuleType, folder: Path, games: int, seed: int) -> tuple[Store, dict[str, float]]:
    """Play and attribute games with one planted fault each; gives their store, and game -> what its twin lost."""
    stores, places = [], []
    for name in ("planted", "twins"):
        report = family.play_planted(folder / name, games, seed, twins=name == "twins")
        store = Store(folder / f"{name}.duckdb")
        ingest_paths([folder / name], store)
        ensure_installed(store)
        by_file = dict(query(store, "SELECT file, episode_id FROM episodes").rows())
        places.append([by_file[str(path.relative_to(folder / name))] for path in report.paths])
        stores.append(store)
    attribute_games(stores[0])
    lost = lost_by_game(stores[1])
    return stores[0], {episode: lost.get(twin, 0.0) for episode, twin in zip(*places, strict=True)}


def lost_by_game(store: Store) -> dict[str, float]:
    """Game -> what its turns lost together."""
    return dict(query(store, "SELECT episode_id, sum(greatest(cost, 0)) FROM turn_costs WHERE isfinite(cost) GROUP BY 1").rows())


def _row(family: str, proof: Proof, twins: float) -> str:
    cells = [
        title_of(family),
        _share(proof.right, proof.costly),
        _share(proof.dearer_right, proof.dearer),
        _share(proof.right, proof.named),
        *(f"{100 * share:.1f} %" for share in (proof.planted, proof.innocent, proof.nobody, proof.undecided)),
        _share(proof.found, proof.timed) if proof.timed else "the log does not tell",
        f"{proof.cost / proof.games:.3g}",
        f"{proof.planted * proof.cost / proof.games:.3g}",
        f"{proof.cost / proof.games - twins:.3g}",
        _share(proof.kept, proof.charged),
    ]
    return f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    ends = wilson(part, whole)
    return "–" if ends is None else f"{100 * part / whole:.1f} % of {whole} [{100 * ends.low:.0f}, {100 * ends.high:.0f}]"


def _accuracy(rows: pl.DataFrame) -> Iterator[str]:
    for row in rows.filter(length="all").iter_rows(named=True):
        agent, step = (_with_ends(row, name) for name in ("agent", "step"))
        within = ("" if row[f"within_{turns}"] is None else f"{100 * row[f'within_{turns}']:.0f} %" for turns in (1, 3, 5))
        truth = f"{_TITLES.get(row['benchmark']) or title_of(row['benchmark'])}, {row['truth']}"
        yield f"| {truth} | {row['games']} | {row['judge'].replace('_', ' ')} | {agent} | {step} | {' | '.join(within)} |"


def _with_ends(row: dict[str, float | None], name: str) -> str:
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" + ("" if low is None or high is None else f" [{100 * low:.0f}, {100 * high:.0f}]")


if __name__ == "__main__":
    sys.exit(main())
