"""The reports `survival`, `survival-curves` (turns until an event; games that ended before are censored) and `transitions`."""

import csv
import warnings
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.comparison.game_values import codes, names_under
from analytics.query import frame, one_reading, query
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats, share_interval
from analytics.statistics.shifts import holm, share_difference, sign_flip_p
from schemas.common import wording
from schemas.store.store import Store

EVENTS: Final[dict[str, str]] = {
    "first refused action": "SELECT episode_id, min(turn) AS turn FROM compared_steps WHERE step = 'refused' GROUP BY 1",
    "completion": "SELECT episode_id, turns_taken AS turn FROM compared_games WHERE success",
    "first spiral": "SELECT episode_id, min(start_turn) AS turn FROM correction_spirals GROUP BY 1",
}
"""Event -> the games in which it happened, and at which turn."""
_KNOWN: Final = {"first refused action": "recorded_games", "completion": "games", "first spiral": "spiral_games"}
"""Event -> the games of which it is known whether it happened."""

_SURE: Final = 0.05
_FEWEST: Final = 5
_NOTHING: Final = 1e-12
_SEPARATED: Final = 1e3
"""Hazard ratios above it, or below its inverse, come of an event that one of two never had: no number is shown."""
_NO_EDGES: Final[dict[str, Any]] = {"free_low": None, "free_high": None}
_Row = dict[str, Any]


class Times(NamedTuple):
    """Of the games of several teams, shape (games,)."""

    turns: Floats
    """At which it happened, or the last turn that was seen."""
    occurred: NDArray[np.bool_]
    team: list[str]
    task: NDArray[np.int64]


def survival(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team and event, a game counting until it ends or the event happens.

    Columns: `report_columns.csv`.
    """
    rows: list[_Row] = []
    groups = list(_groups(store, benchmark))
    for name in dict.fromkeys(shared["benchmark"] for shared, _ in groups):
        family = [shared | row for shared, times in groups if shared["benchmark"] == name for row in _teams(times)]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
        names = names_under((row[key], row["condition"]) for row in family for key in ("team", "reference"))
        for row in family:
            tests = sum(other["p"] is not None for other in family)
            row["advice"] = _advice(row | {key: names[row[key], row["condition"]] for key in ("team", "reference")}, tests)
        rows += family
    return framed("survival", rows)


def survival_curves(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team, event and turn at which it happened: the curve, as steps.

    Columns: `report_columns.csv`.
    """
    rows = [
        shared | {"team": team, "tasks": len(set(own.task.tolist()))} | step
        for shared, times in _groups(store, benchmark)
        for team in dict.fromkeys(times.team)
        for own in [_of(times, [team])]
        for step in free_curve(own)
    ]
    return framed("survival-curves", rows)


def _groups(store: Store, benchmark: str | None) -> Iterator[tuple[_Row, Times]]:
    """Games of one benchmark, condition and event, where the event happened at all."""
    for event, sql in EVENTS.items():
        games = query(
            store,
            "SELECT benchmark, condition, team_name, task, turns_taken, happened.turn FROM compared_games "
            f"LEFT JOIN ({sql}) AS happened USING (episode_id) WHERE ending = 'ended' AND turns_taken > 0 "
            f"AND episode_id IN (SELECT episode_id FROM {_KNOWN[event]}) "
            "ORDER BY benchmark, condition, team_name, task, episode_id",
        )
        for (name, condition), part in games.group_by("benchmark", "condition", maintain_order=True):
            if benchmark not in (None, name) or part["turn"].null_count() == len(part):
                continue
            occurred = part["turn"].is_not_null().to_numpy()
            turns = part["turn"].fill_null(part["turns_taken"]).to_numpy().astype(float)
            shared = {"benchmark": name, "condition": condition, "event": event}
            yield shared, Times(turns, occurred, part["team_name"].to_list(), codes(part["task"]))


def _teams(times: Times) -> Iterator[_Row]:
    counts = {team: times.team.count(team) for team in sorted(set(times.team))}
    reference = max(counts, key=lambda team: (counts[team],))
    log_rank = _log_rank(times)
    for team, games in counts.items():
        own = _of(times, [team])
        curve = list(free_curve(own))
        last = curve[-1] if curve else {"free": 1.0, "free_low": None, "free_high": None}
        half = [step["turn"] for step in curve if step["free"] <= 0.5]  # noqa: PLR2004 - the median
        ratio = None if team == reference else hazard_ratio(_of(times, [reference, team]), team)
        tasks, others = ({*_of(times, [one]).task.tolist()} for one in (team, reference))
        yield {
            "team": team,
            "games": games,
            "tasks": len(tasks),
            "shared": len(tasks & others),
            "of_both": len(tasks | others),
            "events": int(own.occurred.sum()),
            "cut": int((~own.occurred).sum()),
            "median": float(half[0]) if half else None,
            **{name: last[name] for name in ("free", "free_low", "free_high")},
            "reference": reference,
            "is_alone": len(counts) == 1,
            **dict(zip(("hazard_ratio", "low", "high", "p"), ratio or (None,) * 4, strict=True)),
            "log_rank_p": log_rank,
        }


def _of(times: Times, teams: list[str]) -> Times:
    chosen = np.array([team in teams for team in times.team])
    return Times(times.turns[chosen], times.occurred[chosen], [team for team in times.team if team in teams], times.task[chosen])


def free_curve(times: Times) -> Iterator[_Row]:
    """Each turn at which the event happened, with the share of games free of it after (Kaplan and Meier 1958) and its 95 % interval.

    The interval is on the scale log(-log), with Student's t of tasks - 1 degrees of freedom. Games of a task are not independent, so the
    variance is the larger one of Greenwood's and that of the tasks' influences (Ying and Wei 1994, Journal of Multivariate Analysis 50),
    times tasks over tasks - 1; null where no game or every game is free, and of one task.
    """
    from scipy import stats

    turns = np.unique(times.turns[times.occurred])
    if not len(turns):
        return
    tasks = int(times.task.max()) + 1
    here = (times.turns[:, None] == turns) & times.occurred[:, None]
    there = times.turns[:, None] >= turns
    events, at_risk = np.zeros((2, tasks, len(turns)))
    np.add.at(events, times.task, here)
    np.add.at(at_risk, times.task, there)
    kinds = len(np.unique(times.task))
    occurred, seen = events.sum(axis=0), at_risk.sum(axis=0)
    free = np.cumprod(1 - occurred / seen)
    influence = np.cumsum((events - at_risk * occurred / seen) / seen, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        greenwood = np.cumsum(occurred / (seen * (seen - occurred)))
        variance = np.maximum(greenwood, kinds / (kinds - 1) * (influence**2).sum(axis=0)) / np.log(free) ** 2 if kinds > 1 else np.nan
        half = stats.t.ppf((1 + LEVEL) / 2, max(kinds - 1, 1)) * np.sqrt(variance)
        low, high = (np.exp(-np.exp(np.log(-np.log(free)) + side * half)) for side in (1, -1))
    for place, turn in enumerate(turns):
        edges = {"free_low": _number(low[place]), "free_high": _number(high[place])} if 0 < free[place] < 1 else _NO_EDGES
        yield {"turn": int(turn), "at_risk": int(seen[place]), "events": int(occurred[place]), "free": float(free[place])} | edges


def _number(value: float) -> float | None:
    import math

    return float(value) if math.isfinite(value) else None


def _log_rank(times: Times) -> float | None:
    """Over all teams; null of one, or where nothing happened."""
    from statsmodels.duration.survfunc import survdiff

    if len(set(times.team)) == 1 or not times.occurred.any():
        return None
    try:
        _, p = survdiff(times.turns, times.occurred.astype(int), times.team)
    except np.linalg.LinAlgError:  # a team was never seen while anything happened
        return None
    return _number(float(p))


def hazard_ratio(times: Times, team: str) -> tuple[float, float, float, float] | None:
    """How many times as often per turn `team` has the event as the other, its ends and p; None below five games or tasks.

    Cox's partial likelihood with Efron's ties. The variance is that of the jackknife over tasks in one step: of what each task adds to the
    score, over the information that is left without it (Lipsitz, Dear and Zhao 1994, Biometrics 50); tasks are few, and the sandwich
    estimator, with all information below, had a coverage of .89 where tasks differ much. Student's t has the degrees of freedom of as many
    tasks as tell, by Kish's count of what each adds to the log-rank score (1965, Survey Sampling), less one. p is at least that of flipping
    the signs of these parts: exact where both played each task. None, too, where less than five tasks tell: coverage of the interval was
    .69 then (all but a few games completed at one turn).
    """
    from scipy import stats
    from statsmodels.duration.hazard_regression import PHReg

    other = np.array([one == team for one in times.team], dtype=float)
    tasks = len(np.unique(times.task))
    if min(other.sum(), (1 - other).sum(), tasks) < _FEWEST or min(times.occurred[other == 1].sum(), times.occurred[other == 0].sum()) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(PHReg(times.turns, other[:, None], status=times.occurred.astype(int), ties="efron").fit().params[0])
    if not abs(value) <= np.log(_SEPARATED):
        return None
    (scores, _), (own, information) = (_of_tasks(times, other, at) for at in (0.0, value))
    left = information.sum() - information
    if not np.abs(scores).sum() ** 2 > _FEWEST * (scores**2).sum() > _NOTHING or not left.min() > _NOTHING:
        return None
    error = float(np.sqrt((tasks - 1) / tasks * ((own / left) ** 2).sum()))
    if error <= 0:
        return None
    freedom = float(np.abs(scores).sum() ** 2 / (scores**2).sum()) - 1
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    p = max(float(2 * stats.t.sf(abs(value) / error, freedom)), sign_flip_p(scores))
    return float(np.exp(value)), float(np.exp(value - half)), float(np.exp(value + half)), p


def _of_tasks(times: Times, side: Floats, log_ratio: float) -> tuple[Floats, Floats]:
    """By task, what adds up to the score and to the information of that log hazard ratio (Breslow's ties).

    Of each game the events less those expected, times the side less its mean at risk; and those expected, times its square.
    """
    at = np.unique(times.turns[times.occurred])
    here = (times.turns[:, None] == at) & times.occurred[:, None]
    risk = (times.turns[:, None] >= at) * np.exp(log_ratio * side)[:, None]
    apart = side[:, None] - (risk * side[:, None]).sum(axis=0) / risk.sum(axis=0)
    expected = risk * here.sum(axis=0) / risk.sum(axis=0)
    parts = (apart * (here - expected), apart**2 * expected)
    score, information = (np.bincount(times.task, weights=part.sum(axis=1)).astype(float) for part in parts)
    return score, information


def _advice(row: _Row, tests: int) -> str:
    when = f"half of the games by turn {row['median']:.0f}" if row["median"] else f"{row['events']} of {row['games']} games"
    about = f"{row['event']}, {row['team']}: {when}"
    if row["team"] == row["reference"]:
        return f"{about}; {'there is no other team to compare with it' if row['is_alone'] else 'the others are compared with it'}"
    if row["p"] is None:
        return f"{about}; not compared with {row['reference']}: fewer than five games, or tasks that tell, or one of them never has it"
    ratio = f"{row['hazard_ratio']:.2f} times as often per turn as {row['reference']} ({row['low']:.2f} to {row['high']:.2f})"
    ratio += ", over all tasks together, not inside each"
    if row["shared"] < row["of_both"]:
        ratio += f" (both played {row['shared']} of {row['of_both']}, so that it may be one of tasks)"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}, {ratio}; no difference shown ({chance})"
    return f"{about}, {ratio}; {'it comes sooner' if row['hazard_ratio'] > 1 else 'it comes later'} on tasks like these ({chance})"


FAILURES: Final = ("refused", "not_followed")
"""Steps that went wrong, of those of the view `compared_turns`."""
PROGRESS: Final = "progress rises"
"""A next step that is not a step: whether the next turn's progress is above this turn's."""
LATE: Final = "last third"
"""In the place of a step before: the turns of the last third of their game, of which `next` is the step itself."""
_ANY: Final = "any"
_TRANSITIONS_FEWEST: Final = 10
_ENOUGH: Final = 50
"""Turns expected to be followed, and not to be, from which on the spread between games is seen well enough."""

_WORDS: Final[dict[str, dict[str, str]]] = {
    line["step"]: line for line in csv.DictReader((files("analytics") / "step_words.csv").read_text(encoding="utf-8").splitlines())
}
"""Step -> the turn that had it (`after`), and what happens where it is next (`next`), in words."""


def transitions(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team, step and next step; team `any` is all teams together.

    Games differ: in a bad one failures follow failures often, and nothing but its level is seen by that. So a share is compared with what
    its own games would give if their turns came in any other order. After a turn each other turn of its game is then as likely to be next,
    so the expected share of `next` is (turns of the game with it, this one left out) / (turns of the game, this one left out), on average
    over the turns with the step. This is exact for games of any length, where a comparison inside games is biased (Nickell 1981,
    Econometrica 49). A level that rises or falls during a game counts as dependence; rows after `last third` show it: how often turns of
    the last third of a game have the step, against all turns of the same games. So late turns are not those of other games than early ones.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    turns = _pairs(store)
    rows: list[_Row] = []
    for (name,), part in turns.group_by("benchmark", maintain_order=True):
        if benchmark not in (None, name):
            continue
        teams = [(_ANY, _ANY, part)]
        if part["team_name"].n_unique() > 1 or part["condition"].n_unique() > 1:
            teams += [(str(team), str(one), some) for (team, one), some in part.group_by("team_name", "condition", maintain_order=True)]
        shared = {"benchmark": name}
        family = [shared | {"condition": one, "team": team} | row for team, one, some in teams for row in _of_team(some)]
        names = names_under((row["team"], row["condition"]) for row in family if row["team"] != _ANY)
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            row["advice"] = _transitions_advice(
                row | {"team": names.get((row["team"], row["condition"]), "all teams")}, sum(other["p"] is not None for other in family)
            )
        rows += family
    return framed("transitions", rows)


def _pairs(store: Store) -> pl.DataFrame:
    """Of each game its turns, counted by step, next step (null where none is known), and whether progress rose in either.

    Games are joined here, by the hash of their names: DuckDB would compare the names.
    """
    with one_reading(store) as connection:
        games = frame(
            connection,
            "SELECT hash(episode_id) AS game, benchmark, condition, team_name FROM compared_games WHERE ending = 'ended' "
            "ORDER BY benchmark, team_name, condition",
        )
        pairs = frame(connection, "SELECT hash(episode_id) AS game, after, rose, next, rises, late, turns AS n FROM turn_pairs")
    found = pairs.join(games.with_row_index("place"), on="game").filter(pl.col("next").is_not_null().any().over("game"))
    return found.sort("place", maintain_order=True)


def _of_team(pairs: pl.DataFrame) -> Iterator[_Row]:
    games, n = codes(pairs["game"]), pairs["n"].to_numpy().astype(float)
    measured, rose = pairs["rose"].is_not_null().to_numpy(), pairs["rose"].fill_null(value=False).to_numpy()
    has_next, next_measured = pairs["next"].is_not_null().to_numpy(), pairs["rises"].is_not_null().to_numpy()
    rises = pairs["rises"].fill_null(value=False).to_numpy()
    every, late = np.ones(len(n), dtype=bool), pairs["late"].to_numpy()
    levels = {step: level_of(games, n, (pairs["after"] == step).to_numpy(), every) for step in sorted(pairs["after"].unique())}
    follows = {step: (pairs["next"] == step).fill_null(value=False).to_numpy() for step in levels}
    progress = level_of(games, n, rose, measured)
    for step, level in levels.items():
        yield from _row(LATE, step, games, n, Turns(late, level.has, level))
    yield from _row(LATE, PROGRESS, games, n, Turns(late & measured, rose, progress))
    for after, of_after in levels.items():
        for step, level in levels.items():
            yield from _row(after, step, games, n, Turns(of_after.has & has_next, follows[step], level))
        yield from _row(after, PROGRESS, games, n, Turns(of_after.has & next_measured, rises, progress))


class Level(NamedTuple):
    """How often turns have what is looked for, whatever came before; the first two of shape (rows of `_pairs`,)."""

    has: NDArray[np.bool_]
    """The turn itself has it."""
    known: NDArray[np.bool_]
    """Of the turn itself it is known."""
    having: Floats
    """By game, shape (games,): turns that have it."""
    knowing: Floats
    """By game: turns of which it is known."""


def level_of(games: NDArray[np.int64], n: Floats, has: NDArray[np.bool_], known: NDArray[np.bool_]) -> Level:
    """Of turns that have it and of which that is known; games and n as in `against_any_order`."""
    return Level(has, known, np.bincount(games, weights=n * has).astype(float), np.bincount(games, weights=n * known).astype(float))


class Turns(NamedTuple):
    """Which turns count, each shape (rows of `_pairs`,)."""

    here: NDArray[np.bool_]
    """Turns with the step, and a next turn of which is known whether it has what is looked for."""
    follows: NDArray[np.bool_]
    """The next turn has it."""
    level: Level
    """Of what is looked for."""


def against_any_order(games: NDArray[np.int64], n: Floats, turns: Turns) -> tuple[Floats, Floats, Floats]:
    """By game, shape (games,): turns that are followed, turns that count, and how many would be followed if turns came in any order.

    Args:
        games: of each row, numbers from 0 without gaps, shape (rows,).
        n: turns of each row that are alike.
        turns: which they are.
    """
    level, here = turns.level, np.flatnonzero(turns.here)
    own, amounts = games[here], n[here]
    others = level.knowing[own] - level.known[here]
    expected = np.divide(level.having[own] - level.has[here], others, out=np.zeros_like(amounts), where=others > 0)
    hits, sizes, chance = (
        np.bincount(own, weights=weights, minlength=len(level.having)).astype(float)
        for weights in (amounts * turns.follows[here], amounts, amounts * expected)
    )
    return hits, sizes, chance


def _row(after: str, step: str, games: NDArray[np.int64], n: Floats, turns: Turns) -> Iterator[_Row]:
    if not turns.here.any():
        return
    hits, sizes, chance = against_any_order(games, n, turns)
    ends = share_interval(hits, sizes)
    found = share_difference(hits, sizes, chance, sizes) if sizes.sum() >= _TRANSITIONS_FEWEST else None
    yield {
        "after": after,
        "next": step,
        "turns": int(sizes.sum()),
        "games": int((sizes > 0).sum()),
        "n": int(hits.sum()),
        "share": float(hits.sum() / sizes.sum()),
        "low": None if np.isnan(ends.low) else float(ends.low),
        "high": None if np.isnan(ends.high) else float(ends.high),
        "share_expected": float(chance.sum() / sizes.sum()),
        "difference": found and found.difference,
        "difference_low": found and found.low,
        "difference_high": found and found.high,
        "p": None if found is None or found.p is None else max(found.p, _binomial_p(hits, sizes, chance)),
    }


def _binomial_p(hits: Floats, sizes: Floats, chance: Floats) -> float:
    """Two-sided p of so many followed turns where each is followed with the expected share; 0 where they are many enough for Student's t.

    Where few games show what follows, the spread between games that they happen to show is too small: without this, p was below 0.001 in
    0.9 % of null data sets of 40 games with a failure on 7 % of turns.
    """
    from scipy import special  # the binomial's tails as scipy.stats has it, which takes a second to load

    n, found, expected = float(sizes.sum()), float(hits.sum()), float(chance.sum())
    if min(expected, n - expected) >= _ENOUGH:
        return 0.0
    below, above = special.bdtr(found, int(n), expected / n), special.bdtrc(found - 1, int(n), expected / n) if found else 1.0
    return float(min(1.0, 2 * min(below, above)))


def _transitions_advice(row: _Row, tests: int) -> str:
    found = wording.share(row["share"]) + ("" if row["low"] is None else f" {wording.share_interval(row['low'], row['high'])}")
    after, then = (_WORDS.get(row[key], {}).get(key) or wording.in_words(row[key]) for key in ("after", "next"))
    about = f"{row['team']}: after {after} {then} in {found} of {row['turns']} turns"
    if row["after"] == LATE:
        step = _WORDS.get(row["next"], {}).get("after") or wording.in_words(row["next"])
        about = f"{row['team']}: in the last third of a game {found} of {row['turns']} turns are {step}"
    if row["p_holm"] is None:
        return f"{about}; too few turns or games that differ to compare with another order of the turns"
    about += f", in {wording.share(row['share_expected'])} if the turns of each game came in any order"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}; no difference shown ({chance})"
    again = row["after"] == row["next"] and row["after"] in FAILURES and row["difference"] > 0
    way = "failures are serially dependent" if again else "more often" if row["difference"] > 0 else "less often"
    return f"{about}; {way} ({chance})"
