"""How good the attribution is.

The report `attribution-accuracy`: the decisive error by judges, rules of thumb and the engine. The report of `cotrace replay`: how much of
a cost comes back when its failure point is fixed and the turn is played again.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple

import polars as pl

from analytics.query import one_reading, query
from analytics.report_columns import framed
from analytics.statistics.intervals import wilson
from games.players.planted import FaultyPlayer, the_faulty_one, with_faults
from judges.attribution.thumb import RULES, Guess, chance
from judges.evidence.transcript import load
from schemas.store.store import Store

RUBRIC: Final = "decisive_error"
"""Rubric of labels and verdicts: question `agent` has a name, question `step` a turn, from 1."""

_LABELS: Final = """
    SELECT episode_id, benchmark, max(answer) FILTER (question = 'agent'), max(answer) FILTER (question = 'step')
    FROM labels INNER JOIN episodes USING (episode_id) WHERE rubric = $rubric GROUP BY ALL ORDER BY ALL
    """
_SCRIPTS: Final = "SELECT episode_id, benchmark, agent, persona FROM agents INNER JOIN episodes USING (episode_id) ORDER BY ALL"
_PLANTED: Final = """
    SELECT DISTINCT episode_id, turn, agent, planted FROM labels
    WHERE source = 'planted' AND turn IS NOT NULL AND coalesce(planted, '') <> ''
    """
_COSTS: Final = "SELECT episode_id, turn, cost FROM turn_costs WHERE cost > 1e-9 AND isfinite(cost) ORDER BY episode_id, cost DESC, turn"


class LossTruth(NamedTuple):
    """The decisive error of a game."""

    episode_id: str
    benchmark: str
    agent: str
    turn: int | None
    """None where people named no step that is one."""

    source: str
    """`people` or `planted`."""


def truths(store: Store) -> list[LossTruth]:
    """All that are known, people's first.

    Of a game with one planted fault the agent is the faulty one, and the turn the costliest of those in which its fault is known to be at
    work (or, where logs of the benchmark do not tell turn by turn, of those from its beginning on). Games in which no such turn cost
    anything have no decisive error, and are left out.

    Raises:
        StoreError: the store cannot be read.
    """
    with one_reading(store):
        return [*_of_people(store), *_of_planted(store)]


def _of_people(store: Store) -> Iterator[LossTruth]:
    for episode, benchmark, agent, step in query(store, _LABELS, {"rubric": RUBRIC}).rows():
        if agent is not None:
            yield LossTruth(episode, benchmark, agent, int(step) if step is not None and step.isdecimal() else None, "people")


def _of_planted(store: Store) -> Iterator[LossTruth]:
    faults = planted_faults(store)
    at_work = turns_at_work(store, faults)
    telling = {faults[episode][0] for episode in at_work}
    found: set[str] = set()
    for episode, turn, _ in query(store, _COSTS).rows():
        if episode in faults and episode not in found:
            benchmark, fault = faults[episode]
            if turn >= fault.turn and (benchmark not in telling or turn in at_work.get(episode, ())):
                found.add(episode)
                yield LossTruth(episode, benchmark, fault.agent, turn, "planted")


def turns_at_work(store: Store, faults: Mapping[str, tuple[str, FaultyPlayer]]) -> dict[str, set[int]]:
    """Game -> the turns in which its planted fault shows, of games whose log tells that turn by turn."""
    at_work: dict[str, set[int]] = {}
    for episode, turn, agent, planted in query(store, _PLANTED).rows():
        if episode in faults and _is_of(faults[episode][1], agent, planted):
            at_work.setdefault(episode, set()).add(turn)
    return at_work


def planted_faults(store: Store) -> dict[str, tuple[str, FaultyPlayer]]:
    """Game -> its benchmark and its one faulty player."""
    scripts: dict[tuple[str, str], dict[str, str | None]] = {}
    for episode, benchmark, agent, script in query(store, _SCRIPTS).rows():
        scripts.setdefault((episode, benchmark), {})[agent] = script
    faults: dict[str, tuple[str, FaultyPlayer]] = {}
    for (episode, benchmark), team in scripts.items():
        family = with_faults().get(benchmark)
        fault = None if family is None else the_faulty_one(team, family.FAULTLESS)
        if fault is not None:
            faults[episode] = benchmark, fault
    return faults


_TRUTHFUL: Final = frozenset(("none", "sense", "apparent_size", "think_other_wall", "view_complete", "clarify"))
"""Marks of planted truth that are no faults."""
_SLIP: Final = "builder_slip:"


def _is_of(fault: FaultyPlayer, agent: str | None, planted: str) -> bool:
    marks = [mark for mark in planted.split("|") if mark not in _TRUTHFUL]
    if agent is None:  # of the group: only the builder's slips are recorded there
        return fault.agent == "Builder" and any(mark.startswith(_SLIP) for mark in marks)
    return agent == fault.agent and any(not mark.startswith(_SLIP) for mark in marks)


_WITHIN: Final = (1, 3, 5)
_LENGTHS: Final = {"up to 10 turns": (1, 10), "11 to 30 turns": (11, 30), "more than 30 turns": (31, 10**9)}
_ENGINE: Final = """
    SELECT judge, episode_id, agent, turn FROM blamed_agents WHERE source = 'rules' ORDER BY ALL
    """
_MODELS: Final = """
    SELECT judge || coalesce(' (' || replace(variant, '_', ' ') || ')', '') AS judge, episode_id,
        max(answer) FILTER (question = 'agent') AS agent, max(answer) FILTER (question = 'step') AS turn
    FROM verdicts WHERE rubric = $rubric AND status = 'answered' GROUP BY ALL ORDER BY ALL
    """


class _Hit(NamedTuple):
    """How far one guess was right: shares, since a draw is right in part."""

    answered: float
    agent: float
    off: float | None
    """Turns between guess and truth; None without a guess, or without a known step."""

    step: float


def accuracy_report(store: Store) -> pl.DataFrame:
    """One row a judge, for each benchmark and truth, for all its games and by their length.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    known = truths(store)
    lengths = dict(query(store, "SELECT episode_id, turns_taken FROM episodes").rows())
    judges = _judges(store, known)
    rows = []
    for source, benchmark in sorted({(one.source, one.benchmark) for one in known}):
        part = [one for one in known if (one.source, one.benchmark) == (source, benchmark)]
        for length, (least, most) in {"all": (0, 10**9), **_LENGTHS}.items():
            chosen = [one for one in part if least <= lengths[one.episode_id] <= most]
            about = {"truth": source, "benchmark": benchmark, "length": length}
            rows += [about | row for row in _rows(chosen, judges)]
    return framed("attribution-accuracy", rows)


class _Judge(NamedTuple):
    name: str
    hits: Mapping[str, _Hit]
    """Game -> how far it was right, of games that it was asked about."""


def _judges(store: Store, known: Sequence[LossTruth]) -> list[_Judge]:
    by_game = {one.episode_id: one for one in known}
    found = [*_asked(store, by_game)]
    ruled: dict[str, dict[str, _Hit]] = {f"rule: {name}": {} for name in RULES}
    drawn: dict[str, _Hit] = {}
    for game in load(store, list(by_game)):
        truth = by_game[game.episode_id]
        for name, rule in RULES.items():
            ruled[f"rule: {name}"][game.episode_id] = _hit(truth, rule(game))
        agent, step = chance(game)
        drawn[game.episode_id] = _Hit(1.0, agent, None, step)
    return [*found, *(_Judge(name, hits) for name, hits in ruled.items()), _Judge("chance", drawn)]


def _asked(store: Store, by_game: Mapping[str, LossTruth]) -> Iterator[_Judge]:
    """The engine, about the games that it attributed, and models, about those that they answered."""
    attributed = {episode for (episode,) in query(store, "SELECT DISTINCT episode_id FROM attributions").rows()}
    for sql, parameters, all_asked in ((_ENGINE, {}, True), (_MODELS, {"rubric": RUBRIC}, False)):
        guesses: dict[str, dict[str, Guess]] = {}
        for judge, episode, agent, turn in query(store, sql, parameters).rows():
            guesses.setdefault(judge, {})[episode] = Guess(agent, int(turn) if str(turn).isdecimal() else 0)
        for judge, made in guesses.items():
            asked = attributed if all_asked else made.keys()
            yield _Judge(judge, {episode: _hit(truth, made.get(episode)) for episode, truth in by_game.items() if episode in asked})


def _hit(truth: LossTruth, guess: Guess | None) -> _Hit:
    if guess is None:
        return _Hit(0.0, 0.0, None, 0.0)
    off = None if truth.turn is None or not guess.turn else float(abs(guess.turn - truth.turn))
    return _Hit(1.0, float(guess.agent == truth.agent), off, float(off == 0))


def _rows(chosen: Sequence[LossTruth], judges: Sequence[_Judge]) -> Iterator[dict[str, Any]]:
    for judge in judges:
        hits = [judge.hits[one.episode_id] for one in chosen if one.episode_id in judge.hits]
        stepped = [judge.hits[one.episode_id] for one in chosen if one.episode_id in judge.hits and one.turn is not None]
        if not hits:
            continue
        row = {"judge": judge.name, "games": len(hits), "answered": _mean([hit.answered for hit in hits])}
        row |= _share("agent", [hit.agent for hit in hits]) | _share("step", [hit.step for hit in stepped])
        if judge.name != "chance":
            row |= {f"within_{turns}": _mean([float(hit.off is not None and hit.off <= turns) for hit in stepped]) for turns in _WITHIN}
        yield row


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """A share with its interval; an expected one has none."""
    whole = all(value in (0.0, 1.0) for value in values)
    ends = wilson(round(sum(values)), len(values)) if whole else None
    return {name: _mean(values), f"{name}_low": ends.low if ends else None, f"{name}_high": ends.high if ends else None}


ALL: Final = "ALL"
"""Link of the rows that pool all."""
_HALF: Final = 0.5
_NOTHING: Final = 1e-9
_COUNTS: Final = ("turns", "games")
_RATES: Final = ("came_back", "came_back_low", "came_back_high", "little", "little_low", "little_high")


class Counterfactual(NamedTuple):
    """A turn that was played again with one failure point fixed."""

    benchmark: str
    episode_id: str
    turn: int
    agent: str
    link: str
    ideal: str
    """The agent's message or action instead."""
    attributed: float
    """The cost that had been attributed to it."""
    promised: float
    """What its ideal action would have saved, by the attribution; more than was attributed to it where several share a turn."""
    back: float
    """What the game lost less in the turns that were played again."""


def costs_by_turn(store: Store, *, finite: bool = True) -> dict[str, dict[int, float]]:
    """Game -> turn -> what it cost, not below 0, where that is known; inf of a turn that lost the goal, unless only finite ones count."""
    found: dict[str, dict[int, float]] = {}
    sql = "SELECT episode_id, turn, greatest(cost, 0) FROM turn_costs WHERE cost IS NOT NULL" + " AND isfinite(cost)" * finite
    for episode, turn, cost in query(store, sql).rows():
        found.setdefault(episode, {})[turn] = cost
    return found


def lost_since(costs: Mapping[int, float] | None, turn: int, turns: int | None) -> float | None:
    """What a game lost from a turn on, in so many turns (None: to its end); None where the costs are unknown or a turn lost the goal."""
    last = float("inf") if turns is None else turn + turns - 1
    lost = sum(cost for when, cost in (costs or {}).items() if turn <= when <= last)
    return lost if costs and isfinite(lost) else None


def counterfactual_report(found: Sequence[Counterfactual]) -> pl.DataFrame:
    """One row a benchmark and link, `ALL` first.

    Columns, in order: benchmark, link; turns with a fix, and of how many games; came_back: share of what the ideals would have saved,
    by the attribution, that came back (below 0 where more was lost); little: share of the turns in which less than half of it did, whose
    cost then was put down wrongly; `_low`, `_high`: their 95 % intervals over games, null below two games and where more than all or less
    than nothing came back in a game.
    """
    rows = []
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        own = [one for one in found if one.benchmark == benchmark]
        rows.append(_row(benchmark, ALL, own))
        rows += [_row(benchmark, link, [one for one in own if one.link == link]) for link in sorted({one.link for one in own})]
    schema: dict[str, Any] = {"benchmark": pl.String(), "link": pl.String()} | dict.fromkeys(_COUNTS, pl.Int64())
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(_RATES, pl.Float64()), orient="row")


def _row(benchmark: str, link: str, found: Sequence[Counterfactual]) -> tuple[Any, ...]:
    games: dict[str, list[Counterfactual]] = {}
    for one in found:
        games.setdefault(one.episode_id, []).append(one)
    promised = [sum(one.promised for one in game) for game in games.values()]
    back = [sum(one.back for one in game) for game in games.values()]
    little = [float(sum(one.back < _HALF * one.promised for one in game)) for game in games.values()]
    sizes = [float(len(game)) for game in games.values()]
    return (benchmark, link, len(found), len(games), *_share_over_games(back, promised), *_share_over_games(little, sizes))


def _share_over_games(right: Sequence[float], of: Sequence[float]) -> tuple[float, float | None, float | None]:
    import numpy as np

    from analytics.statistics.intervals import share_interval

    value = sum(right) / sum(of)
    if len(of) <= 1 or not all(-_NOTHING <= one <= whole + _NOTHING for one, whole in zip(right, of, strict=True)):
        return value, None, None
    ends = share_interval(np.clip(right, 0, of), np.array(of))
    return value, float(ends.low), float(ends.high)
