"""How well attribution finds planted faults, and how well judges and rules of thumb name decisive errors.

`python -m benchmarks.attribution` plays games with exactly one faulty player of every family, attributes them, and prints the tables of
docs/attribution.md; `--write` puts them there, `--games N` plays N games a family instead of 200, `--seed S` others. Labelled runs of
Who&When are scored where `../shared/data/whoandwhen` is, or where `--labelled PATH` says. It takes about five minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
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
    "agent with most cost is the faulty one",
    "cost: faulty",
    "without fault",
    "nobody's",
    "undecided",
    "first faulty turn within 1",
    "lost a game",
    "put down to the fault",
    "more than its twin",
)
_TITLES: Final = {"whoandwhen": "Who&When, the half in `data/whoandwhen`"}
_NEAR: Final = 1
"""Turns by which the first faulty turn may be missed."""


class Proof(NamedTuple):
    """What attribution made of games with one planted fault each."""

    games: int
    named: int
    """Games in which an agent was given a cost."""
    right: int
    """Of them, those in which the planted one has the most."""
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


def proof_of(store: Store) -> Proof:
    """Score an attributed store of games with one planted fault each."""
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
    right = [max(agents, key=lambda agent: agents[agent]) == faults[episode][1].agent for episode, agents in costs.items()]
    at_work = {episode: min(turns) for episode, turns in turns_at_work(store, faults).items()}
    found = [episode in first and abs(first[episode] - turn) <= _NEAR for episode, turn in at_work.items()]
    shares = {kind: cost / total if total else 0.0 for kind, cost in kinds.items()}
    return Proof(
        games=len(faults),
        named=len(right),
        right=sum(right),
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
    parser.add_argument("--games", type=int, default=200, help="games with a planted fault of each family")
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
        found.play_planted(folder / family / "planted", games, seed)
        found.play_planted(folder / family / "twins", games, seed, twins=True)
        store, twins = (_attributed(folder / family / name, folder / f"{family}-{name}.duckdb") for name in ("planted", "twins"))
        yield _row(family, proof_of(store), _lost(twins))
        accuracies.append(accuracy_report(store))
    yield "\n*More than its twin*: what a game lost more, on the average, than the same game with a faultless player in that place.\n"
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


def _lost(store: Store) -> float:
    found: float = query(
        store, "SELECT sum(greatest(cost, 0)) / (SELECT count(*) FROM episodes) FROM turn_costs WHERE isfinite(cost)"
    ).item()
    return found


def _row(family: str, proof: Proof, twins: float) -> str:
    cells = [
        title_of(family),
        _share(proof.right, proof.named),
        *(f"{100 * share:.1f} %" for share in (proof.planted, proof.innocent, proof.nobody, proof.undecided)),
        _share(proof.found, proof.timed) if proof.timed else "the log does not tell",
        f"{proof.cost / proof.games:.3g}",
        f"{proof.planted * proof.cost / proof.games:.3g}",
        f"{proof.cost / proof.games - twins:.3g}",
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
