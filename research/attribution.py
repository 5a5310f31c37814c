"""How well attribution finds planted faults, and how well judges and rules of thumb name decisive errors.

`python -m research attribution` plays games with exactly one faulty player of every family, attributes them, and prints the tables of
docs/dev/attribution.md; `--write` puts them there, `--games N` plays N games a family instead of 120, `--seed S` others. Labelled runs of
Who&When are scored where `../shared/data/whoandwhen` is, or where `--labelled PATH` says. It takes some four minutes on two free cores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.installation import ensure_installed
from analytics.losses.accuracy import accuracy_report, costs_by_turn, planted_faults, turns_at_work
from analytics.query import query
from analytics.statistics.intervals import t_interval, wilson
from games.players.planted import with_faults
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from research.mended import MendedTurn, episodes_of, mended_turns
from schemas.families import title_of
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl


_PAGE: Final = Path("docs/dev/attribution.md")
_MARKS: Final = ("<!-- proven: begin -->", "<!-- proven: end -->")
_LABELLED: Final = Path("../shared/data/whoandwhen")
_WHO: Final = (
    "family",
    "all games with a cost",
    "dearer than their twins",
    "fault at work in a turn that cost something",
    "fault proven to have cost something",
    "an agent has a cost",
    "first faulty turn within 1",
)
_HOW_MUCH: Final = (
    "family",
    "faulty",
    "without fault",
    "nobody's",
    "undecided",
    "lost a game",
    "put down to the fault",
    "more than its twin",
)
_BACK: Final = (
    "family",
    "costliest link mended alone: comes back",
    "less than half comes back",
    "whole player mended: less than half comes back",
    "nobody charged: games",
    "dearer than their twins",
    "cheaper",
    "difference a game",
)
_TITLES: Final = {"whoandwhen": "Who&When, the half in `data/whoandwhen`"}
_NOTES_WHO: Final = """
Share of games in which most of the cost is put down to the faulty player, with 95 % intervals over games; those in which no agent was
given a cost count as not found. The columns differ in which games count. *All games with a cost*: a game can lose without its fault, for
what nobody could see costs faultless teams, too. *Dearer than their twins*: than the same game (same seed, same partners) with a faultless
player there; chance makes some of them dearer, as many as it makes cheaper (last table). *Fault at work*: the scripts say so turn by turn.
*Proven*: with the faulty player faultless in one turn, and the game the same up to it, less is lost; tried in the turn for which it was
charged most or, where it was not charged, in the three costliest in which its fault was at work. *An agent has a cost*: what is left when
games whose cost is nobody's are set aside.
"""
_NOTES_HOW_MUCH: Final = """
Shares of the whole cost of all games; then means a game. *More than its twin*: what a game lost more, on the average, than its twin.
"""
_NOTES_BACK: Final = """
*Costliest link mended alone*: the turn for which the faulty player was charged most is played again with that player faultless in it, and
everything before as it was; of what it was charged with, so much comes back. Where less than half does, what was said of whose the cost was
did not hold. *Whole player mended*: the same, with a faultless player in the whole game. *Nobody charged*: of the games in which no agent
was given a cost, how many lost more and less than their twins, and how much more on the average, with its 95 % interval (Student's t): 0
says that nothing was overlooked there.
"""
_NOTHING: Final = 1e-9
_KINDS: Final = ("planted", "innocent", "nobody", "undecided")
_UNTOLD: Final = "the log does not tell"
_NEAR: Final = 1
"""Turns by which the first faulty turn may be missed."""


class Played(NamedTuple):
    """Games with one planted fault each."""

    store: Store
    """With attributions."""

    twins: Mapping[str, float]
    """Game -> what its twin lost: the same game, with a faultless player in the faulty one's place."""

    episodes: Sequence[str]
    """By place."""


class Found(NamedTuple):
    """Games of some kind, and those of them in which the planted player has most of the cost."""

    right: int
    games: int


class Proof(NamedTuple):
    """What attribution made of games with one planted fault each."""

    games: int
    costly: Found
    dearer: Found
    at_work: Found
    """Games whose log tells that the fault was at work in a turn that cost something."""
    proven: Found
    """Games that lose less with one turn mended."""
    named: Found
    """Games in which an agent was given a cost."""
    first: Found
    """Games whose log tells when the fault shows first; right where that is found within one turn, with or without a cost."""
    cost: float
    shares: Mapping[str, float]
    """Of the cost: planted, innocent, nobody, undecided."""
    more: float
    """What a game lost more than its twin, on the average."""
    charged: float
    """What was put down to the costliest links of planted players, and `back`: what of it comes back with that turn mended."""
    back: float
    kept_turns: Found
    """Those links; "right" where less than half comes back."""
    kept: Found
    """Games in which the planted one was charged; "right" where less than half comes back with that player mended."""
    unnamed: Sequence[float]
    """What games without a cost of any agent lost more than their twins."""


def proof_of(played: Played, mended: Sequence[MendedTurn] = (), level: str | None = None) -> Proof:
    """Score attributed games with one planted fault each, and their mended turns; ``level``: only those of one of several games."""
    store, twins = played.store, played.twins
    levels = dict(query(store, "SELECT episode_id, level FROM episodes").rows())
    faults = {episode: fault for episode, fault in planted_faults(store).items() if level in (None, levels[episode])}
    found_links = query(store, "SELECT episode_id, turn, agent, link, cost FROM attributions ORDER BY ALL").rows()
    rows = [row for row in found_links if row[0] in faults]
    kinds = dict.fromkeys(_KINDS, 0.0)
    costs: dict[str, dict[str, float]] = {}
    first: dict[str, int] = {}
    for episode, turn, agent, link, cost in rows:
        planted = faults[episode][1].agent
        kinds[
            "undecided"
            if link in ("undecided", "not_understood")
            else "nobody"
            if agent is None
            else "planted"
            if agent == planted
            else "innocent"
        ] += cost
        if agent is not None and cost > 0:
            costs.setdefault(episode, {})[agent] = costs.get(episode, {}).get(agent, 0.0) + cost
        if agent == planted:
            first[episode] = min(first.get(episode, turn), turn)
    total = sum(kinds.values())
    right = {episode for episode, agents in costs.items() if max(agents, key=lambda agent: agents[agent]) == faults[episode][1].agent}
    turns = costs_by_turn(store)
    lost = {episode: loss for episode in faults if (loss := sum(turns.get(episode, {}).values())) > _NOTHING}
    own = {episode: cost for episode in costs if (cost := costs[episode].get(faults[episode][1].agent, 0.0)) > 0}
    at_work = turns_at_work(store, faults)
    begins = {episode: min(shown) for episode, shown in at_work.items()}
    tried = [turn for turn in mended if turn.episode in faults]
    links = [turn for turn in tried if turn.charged > 0]

    def found(games: Iterable[str]) -> Found:
        chosen = {*games}
        return Found(len(chosen & right), len(chosen))

    return Proof(
        games=len(faults),
        costly=found(lost),
        dearer=found(episode for episode, loss in lost.items() if loss > twins[episode] + _NOTHING),
        at_work=found(e for e, shown in at_work.items() if any(turns.get(e, {}).get(turn, 0.0) > _NOTHING for turn in shown)),
        proven=found(turn.episode for turn in tried if turn.back > _NOTHING),
        named=found(costs),
        first=Found(sum(e in first and abs(first[e] - turn) <= _NEAR for e, turn in begins.items()), len(begins)),
        cost=total,
        shares={kind: cost / total if total else 0.0 for kind, cost in kinds.items()},
        more=(sum(lost.values()) - sum(twins[episode] for episode in faults)) / len(faults),
        charged=sum(turn.charged for turn in links),
        back=sum(min(turn.back, turn.charged) for turn in links),
        kept_turns=Found(sum(turn.back < turn.charged / 2 for turn in links), len(links)),
        kept=Found(sum(lost[episode] - twins[episode] < cost / 2 for episode, cost in own.items()), len(own)),
        unnamed=[lost.get(episode, 0.0) - twins[episode] for episode in faults if episode not in costs],
    )


def main(arguments: Sequence[str]) -> int:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(prog="python -m research attribution", description=__doc__)
    parser.add_argument("--games", type=int, default=120, help="games with a planted fault of each family")
    parser.add_argument("--seed", type=int, default=2026, help="of those games")
    parser.add_argument("--labelled", type=Path, default=_LABELLED, help="labelled runs of Who&When")
    parser.add_argument("--write", action="store_true", help=f"into {_PAGE}")
    options = parser.parse_args(arguments)
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
    yield f"{games} games a family, each with exactly one faulty player (seed {seed}; `python -m research attribution --write`).\n"
    proofs, accuracies = [], []
    for family, found in with_faults().items():
        played = planted_games(found, folder / family, games, seed)
        mended = mended_turns(found, folder / family, played.store, played.episodes, seed)
        titles: Mapping[str | None, str] = getattr(found, "TITLES", None) or {None: title_of(family)}
        proofs += [(title, proof_of(played, mended, level)) for level, title in titles.items()]
        accuracies.append(accuracy_report(played.store))
        sys.stderr.write(f"{family} done\n")
    for heads, row, notes in ((_WHO, _who, _NOTES_WHO), (_HOW_MUCH, _how_much, _NOTES_HOW_MUCH), (_BACK, _back, _NOTES_BACK)):
        yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
        yield from (f"| {title} | {' | '.join(row(proof))} |" for title, proof in proofs)
        yield notes
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


def planted_games(family: ModuleType, folder: Path, games: int, seed: int) -> Played:
    """Play and attribute games with one planted fault each, and play their twins."""
    stores, places = [], []
    for name in ("planted", "twins"):
        report = family.play_planted(folder / name, games, seed, fixed="throughout" if name == "twins" else None)
        store = Store(folder / f"{name}.duckdb")
        ingest_paths([folder / name], store)
        ensure_installed(store)
        places.append(episodes_of(store, folder / name, report.paths))
        stores.append(store)
    attribute_games(stores[0])
    lost = {episode: sum(costs.values()) for episode, costs in costs_by_turn(stores[1]).items()}
    return Played(stores[0], {episode: lost.get(twin, 0.0) for episode, twin in zip(*places, strict=True)}, places[0])


def _who(proof: Proof) -> Iterator[str]:
    yield from (_share(found) for found in (proof.costly, proof.dearer, proof.at_work, proof.proven, proof.named))
    yield _share(proof.first) if proof.first.games else _UNTOLD


def _how_much(proof: Proof) -> Iterator[str]:
    yield from (f"{100 * proof.shares[kind]:.1f} %" for kind in _KINDS)
    a_game = proof.cost / proof.games
    yield from (f"{amount:.3g}" for amount in (a_game, proof.shares["planted"] * a_game, proof.more))


def _back(proof: Proof) -> Iterator[str]:
    yield f"{100 * proof.back / proof.charged:.0f} %" if proof.charged else "–"
    yield _share(proof.kept_turns)
    yield _share(proof.kept)
    rest = proof.unnamed
    yield from map(str, (len(rest), sum(more > _NOTHING for more in rest), sum(more < -_NOTHING for more in rest)))
    ends = t_interval(rest) if rest else None
    mean = f"{sum(rest) / len(rest):.3g}" if rest else "–"
    yield mean if ends is None else f"{mean} [{ends.low:.3g}, {ends.high:.3g}]"


def _share(found: Found) -> str:
    ends = wilson(*found)
    if ends is None:
        return "–"
    return f"{100 * found.right / found.games:.1f} % of {found.games} [{100 * ends.low:.0f}, {100 * ends.high:.0f}]"


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
