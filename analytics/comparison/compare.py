"""The report `compare`: which team is ahead of which, by how much, and what of it holds.

Differences between two teams: on the tasks they share, or between their tasks where they share none.

A task counts once, however often it was played: what varies is the task. Differences on shared tasks have Student's interval over tasks,
others Welch's. Where values are only yes or no, or differ on all shared tasks alike, a task at either end is added first: of differences
one fully won and one fully lost (Bonett and Price 2012, Journal of Educational and Behavioral Statistics 37), of each team's values one yes
and one no (Agresti and Caffo 2000, American Statistician 54). A team that always succeeds has no variance of its own, and without them the
interval of ten tasks held a true difference of 0.1 in 65 %. Where a task has several games, so much less of it is added: one game's worth.
Tests are exact permutations (`analytics.statistics.shifts`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from analytics.comparison.game_values import game_values, judge_of, short_names
from analytics.estimates.corrected import judged_units, rate_row, shared_correlation
from analytics.estimates.rates import Corrected, difference_of_rates
from analytics.estimates.units import asked_units
from analytics.query import condition, query
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL
from analytics.statistics.shifts import holm
from schemas.common import wording
from schemas.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_QUANTILE: Final = 1.959964
"""Of the normal distribution: what turns the width of a 95 % interval into a standard error."""


class CorrectedDifference(NamedTuple):
    """First team's rate minus the second's, both corrected by labels; None where one of them is not corrected.

    Where it is in doubt whether units were drawn as labels state, p is None: no difference is claimed.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    doubt: str = ""
    """`analytics.estimates.design.drawing_doubt`."""


NOT_CORRECTED: Final = CorrectedDifference(None, None, None, None, None)


def corrected_differences(
    store: Store, of_judge: tuple[str, str], games: pl.DataFrame, pairs: Iterable[Mapping[str, Any]], families: str | None = None
) -> list[CorrectedDifference]:
    """Of each pair of teams, in order: the difference of the rates that `corrected-rates` gives of the games of either.

    Rates are prediction-powered, with games as clusters; none is given where labels are no random sample of the team's units or the judge
    leaves units unanswered. The interval is that of `analytics.estimates.rates.difference_of_rates`.

    Args:
        store: a store with the views.
        of_judge: rubric and question, `spatial_grounding.SG1`, and whose answers.
        games: as `game_values` gives them.
        pairs: rows of `compare`: condition_a, max_turns_a, team_a and the same of b.
        families: as in `compare`.

    Raises:
        StoreError: the store cannot be read.
    """
    name, judge = of_judge
    rubric, _, question = name.rpartition(".")
    sides = {side: str(place) for place, side in enumerate(games.select(_SIDE).unique().rows())}
    groups = games.with_columns(pl.Series("model", [sides[side] for side in games.select(_SIDE).rows()], dtype=pl.String))
    about = [asked for asked in asked_units(store, rubric, families, question=question) if asked.judge == judge]
    groups_of = {judged.model: judged for judged in judged_units(about[0], groups.select("episode_id", "model"))} if about else {}
    rates = {name: rate_row(judged) for name, judged in groups_of.items()}
    found = []
    for pair in pairs:
        one, other = (sides[_judge_bias_side(pair, end)] for end in "ab")
        correlation = shared_correlation(groups_of[one], groups_of[other]) if {one, other} <= set(groups_of) else 0.0
        difference = _difference(rates.get(one, {}), rates.get(other, {}), correlation)
        doubt = groups_of[one].doubt.drawing if difference.value is not None else ""
        found.append(difference._replace(p=None, doubt=doubt) if doubt else difference)
    corrected = holm([one.p for one in found])
    return [one._replace(p_holm=p) for one, p in zip(found, corrected, strict=True)]


def _judge_bias_side(pair: Mapping[str, Any], end: str) -> tuple[Any, ...]:
    return pair[f"condition_{end}"], pair[f"max_turns_{end}"], pair[f"team_{end}"]


def _difference(first: Mapping[str, Any], second: Mapping[str, Any], correlation: float) -> CorrectedDifference:
    import numpy as np

    if first.get("rate") is None or second.get("rate") is None:
        return NOT_CORRECTED
    one, other = (Corrected(*(np.asarray(side[name]) for name in ("rate", "rate_low", "rate_high"))) for side in (first, second))
    value, low, high = map(float, difference_of_rates(one, other, correlation))
    half = value - low if value > 0 else high - value  # of the side on which 0 is
    p = math.erfc(abs(value) * _QUANTILE / half / math.sqrt(2)) if half else float(value == 0)  # without a width nothing is in doubt
    return CorrectedDifference(value, low, high, p, None)


FEWEST: Final = 6
"""Shared tasks below which no p below 0.05 is possible: 2 / 2^5 = 0.0625."""

_STEADY: Final = 1e-12
_RARE: Final = 0.25
"""Share of the games at the lower end up to which these count as crashes."""


class ValueRange(NamedTuple):
    """What values there can be."""

    span: float | None
    """How far apart two can be; None: not known."""
    yes_or_no: bool = False
    """Whether there are only the two ends."""
    low: float = 0.0
    """The lower end, where `span` is known."""
    crashes: float = 0.0
    """Variance of a task's difference that crashes make, values at the lower end that are rare: as often as in all games."""


class MeanDifference(NamedTuple):
    """First minus second; None where there is too little."""

    value: float
    low: float | None
    high: float | None
    p: float | None


def paired(first: Floats, second: Floats, scale: ValueRange, runs: float = 1.0) -> MeanDifference:
    """Mean difference over shared tasks.

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: the same tasks of the other team.
        scale: of the values.
        runs: games of a task, on average over tasks and teams.
    """
    from analytics.statistics.shifts import sign_flip_p

    differences = first - second
    mean = float(differences.mean())
    if len(differences) < 2:  # noqa: PLR2004 - a variance needs two
        return MeanDifference(mean, None, None, None)
    p = sign_flip_p(differences) if len(differences) >= FEWEST else None
    estimate, span = _estimate(differences), scale.span
    if span is not None and (scale.yes_or_no or estimate.variance <= _STEADY**2):
        estimate = _estimate(differences, (-span, span), 1 / runs)
    elif estimate.variance <= _STEADY**2:
        return MeanDifference(mean, None, None, p)
    # few tasks need not show a crash: then their own spread does not include it
    estimate = estimate._replace(variance=max(estimate.variance, scale.crashes / len(differences)))
    return MeanDifference(mean, *_ends(mean, estimate, span), p)


def unpaired(first: Floats, second: Floats, scale: ValueRange, runs: float = 1.0) -> MeanDifference:
    """Difference of the means over the tasks of either, with Welch's interval (1947, Biometrika 34).

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: other tasks.
        scale: of the values.
        runs: as in `paired`.
    """
    from analytics.statistics.shifts import exchange_p

    mean = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:  # noqa: PLR2004
        return MeanDifference(mean, None, None, None)
    p = exchange_p(first, second)
    added = (scale.low, scale.low + scale.span) if scale.span is not None and scale.yes_or_no else ()
    one, other = (_estimate(side, added, 1 / runs) for side in (first, second))
    variance = one.variance + other.variance
    if variance <= _STEADY:
        return MeanDifference(mean, *_of_steady(mean, min(len(first), len(second)), scale.span), p)
    freedom = variance**2 / (one.variance**2 / one.freedom + other.variance**2 / other.freedom)
    return MeanDifference(mean, *_ends(mean, _Estimate(one.mean - other.mean, variance, freedom), scale.span), p)


class _Estimate(NamedTuple):
    mean: float
    variance: float
    """Of the mean."""
    freedom: float


def _estimate(values: Floats, added: tuple[float, ...] = (), times: float = 0.0) -> _Estimate:
    """Mean of values, and of others that stand there so many times."""
    n = len(values) + times * len(added)
    mean = (float(values.sum()) + times * sum(added)) / n
    squares = float(((values - mean) ** 2).sum()) + times * sum((value - mean) ** 2 for value in added)
    return _Estimate(mean, squares / (n * (n if added else n - 1)), n - 1)


def _ends(mean: float, estimate: _Estimate, span: float | None) -> tuple[float, float]:
    """By Student's t; the mean of the values alone is between them, and what cannot be is beyond."""
    from scipy import stats

    half = float(stats.t.ppf((1 + LEVEL) / 2, estimate.freedom)) * math.sqrt(estimate.variance)
    return _inside(min(estimate.mean - half, mean), max(estimate.mean + half, mean), span)


def _of_steady(mean: float, tasks: int, span: float | None) -> tuple[float | None, float | None]:
    """Nothing varies on either side: what may hide behind so few tasks."""
    from analytics.statistics.intervals import wilson

    unseen = wilson(0, tasks)
    if span is None or unseen is None:
        return None, None
    return _inside(mean - unseen.high * span, mean + unseen.high * span, span)


def _inside(low: float, high: float, span: float | None) -> tuple[float, float]:
    return (low, high) if span is None else (max(low, -span), min(high, span))


_SURE: Final = 0.05
"""Corrected p-value below which a difference is shown."""
_HELD_BY_FEW: Final = "91 %"
"""How often the intervals of five shared tasks hold the truth, in simulation (tests/analytics/comparison); of yes and no it is more."""
_SIDE: Final = ("condition", "max_turns", "team_name")

_Row = dict[str, Any]


def compare(  # noqa: PLR0913 - what a comparison can be asked for, each by its name
    store: Store,
    *,
    metric: str = "score",
    benchmark: str | None = None,
    families: str | None = None,
    games: pl.DataFrame | None = None,
    bounded: bool = True,
) -> pl.DataFrame:
    """One row for each pair of teams of a game; also for a team under two conditions or turn limits.

    A pair differs in one thing, the team, the condition or the turn limit. Only where a team has no such partner, as in runs of one team
    each, is it compared with all others. A task counts once, with the mean of its games.

    Columns: `report_columns.csv`.

    Args:
        store: a store with the views.
        metric: what to compare by, as in `analytics.comparison.game_values.game_values`.
        benchmark: only this one; None: all that have the metric.
        families: SQL expression over `episodes` that gives the family of a task, such as `split_part(task_id, '_', 1)`: tasks of a family
            are alike, so a family counts once, with the mean of the tasks that both teams played, and `tasks` counts families.
        games: what `game_values` gives of that metric, where it is known already.
        bounded: False leaves out bounded_low and bounded_high, which take longer than all the rest.

    Raises:
        UsageError: the store has no such metric.
        StoreError: the store cannot be read.
    """
    games = game_values(store, metric) if games is None else games
    if benchmark is not None:
        games = games.filter(pl.col("benchmark") == benchmark)
    if families is not None:
        games = games.join(query(store, f"SELECT episode_id, ({condition(families)})::VARCHAR AS family FROM episodes"), on="episode_id")
    rows: list[_Row] = []
    for (name, game), part in games.group_by("benchmark", "game", maintain_order=True):
        family = [{"benchmark": name, "game": game, "metric": metric} | row for row in _pairs(part, bounded=bounded)]
        _correct(family)
        of_judge = judge_of(store, metric)
        corrected = corrected_differences(store, of_judge, part, family, families) if of_judge else [NOT_CORRECTED] * len(family)
        for row, found in zip(family, corrected, strict=True):
            row |= {f"corrected{end}": value for end, value in zip(("", "_low", "_high", "_p", "_p_holm", "_doubt"), found, strict=True)}
            row["judge"] = of_judge and of_judge[1]
        short = short_names([row[f"team_{side}"] for row in family for side in "ab"])
        for row in family:
            row["advice"] = _advice(row | {f"team_{side}": short[row[f"team_{side}"]] for side in "ab"})
        rows += sorted(family, key=lambda row: (not row["paired"], -row["difference"]))
    return framed("compare", rows)


def is_shown(pair: Mapping[str, Any]) -> bool:
    """Whether a row of `compare` shows a difference between teams: on shared tasks, with p_holm below 0.05."""
    return bool(pair["paired"]) and pair["p_holm"] is not None and pair["p_holm"] < _SURE


def behind(pairs: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Of rows of `compare` the one in which the team that is behind most others (team_b) is behind by most; None where none is shown.

    The chance that it names a pair of equal teams is at most 5 %, however many teams there are: it is Holm's of the rows of a game.
    """
    lost: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for pair in filter(is_shown, pairs):
        lost.setdefault(tuple(pair[f"{name}_b"] for name in ("team", "condition", "max_turns")), []).append(pair)
    most = max(lost.values(), key=lambda own: (len(own), max(pair["difference"] for pair in own)), default=None)
    return None if most is None else max(most, key=lambda pair: pair["difference"])


def _pairs(games: pl.DataFrame, *, bounded: bool) -> Iterator[_Row]:
    scale = _scale(games)
    own = [pl.col("family").first()] if "family" in games.columns else []
    by_task = games.group_by(*_SIDE, "task", maintain_order=True).agg(pl.col("value").mean(), pl.len().alias("games"), *own)
    sides = dict(iter(by_task.sort(*_SIDE, "task", nulls_last=True).group_by(*_SIDE, maintain_order=True)))
    near = [pair for pair in combinations(sides, 2) if len(_differing(*pair)) == 1]
    partnered = {side for pair in near for side in pair}
    alone = [pair for pair in combinations(sides, 2) if len(_differing(*pair)) > 1 and not partnered.issuperset(pair)]
    for a, b in near + alone:
        first, second = (a, b) if sides[a]["value"].mean() >= sides[b]["value"].mean() else (b, a)  # type: ignore[operator]
        row = _compared(first, second, sides[first], sides[second], scale)
        apart = row.pop("apart")
        yield row | _bounded(apart if bounded else None, scale.span)


def _scale(games: pl.DataFrame) -> ValueRange:
    if games["low"].has_nulls() or games["high"].has_nulls():
        return ValueRange(None)
    ends = games.select(((pl.col("value") == pl.col("low")) | (pl.col("value") == pl.col("high"))).all()).item()
    low, high = float(games["low"].min()), float(games["high"].max())  # type: ignore[arg-type]
    return ValueRange(high - low, yes_or_no=bool(ends), low=low, crashes=0.0 if ends else _crashes(games["value"].to_numpy() - low))


def _crashes(above: Floats) -> float:
    """2 q (1 - q) m^2, the variance of a difference in which either side is 0 with a chance q, else m on average; 0 where 0 is not rare."""
    crashed = int((above <= _STEADY).sum())
    share = (crashed + 1) / (len(above) + 2)
    if not crashed or share > _RARE:
        return 0.0
    return 2 * share * (1 - share) * float(above[above > _STEADY].mean()) ** 2


def _differing(a: tuple[object, ...], b: tuple[object, ...]) -> list[str]:
    names = ("condition", "max_turns", "team")
    return [name for name, one, other in zip(names, a, b, strict=True) if one != other]


def _compared(a: tuple[Any, ...], b: tuple[Any, ...], of_a: pl.DataFrame, of_b: pl.DataFrame, scale: ValueRange) -> _Row:
    shared = of_a.join(of_b, on="task", how="inner", suffix="_b", maintain_order="left")
    if "family" in of_a.columns:
        means = (pl.col("value").mean(), pl.col("games").sum())
        shared = shared.group_by(task="family", maintain_order=True).agg(*means, pl.col("value_b").mean(), pl.col("games_b").sum())
        of_a, of_b = (of.group_by(task="family", maintain_order=True).agg(*means) for of in (of_a, of_b))
    is_paired = len(shared) > 1
    if is_paired:
        of_a, of_b = shared.select("task", "value", "games"), shared.select("task", value="value_b", games="games_b")
    first, second = of_a["value"].to_numpy(), of_b["value"].to_numpy()
    runs = (int(of_a["games"].sum()) + int(of_b["games"].sum())) / (len(first) + len(second))
    found = (paired if is_paired else unpaired)(first, second, scale, runs)
    if found.value < 0:  # on the shared tasks it is the other way round
        return _compared(b, a, of_b, of_a, scale)
    signs = (first - second).round(12) if is_paired else None
    return {
        **dict(zip(("condition_a", "max_turns_a", "team_a", "condition_b", "max_turns_b", "team_b"), (*a, *b), strict=True)),
        "differs": " and ".join(_differing(a, b)),
        "paired": is_paired,
        "shared": len(shared),
        "fewest": min(len(first), len(second)),
        "is_yes_or_no": scale.yes_or_no,
        "tasks": len(first) if is_paired else len({*of_a["task"], *of_b["task"]}),
        "games_a": int(of_a["games"].sum()),
        "games_b": int(of_b["games"].sum()),
        "mean_a": float(first.mean()),
        "mean_b": float(second.mean()),
        **_named(found),
        "apart": first - second if is_paired else None,
        "wins": None if signs is None else int((signs > 0).sum()),
        "ties": None if signs is None else int((signs == 0).sum()),
        "losses": None if signs is None else int((signs < 0).sum()),
    }


def _bounded(differences: Floats | None, span: float | None) -> _Row:
    from analytics.statistics.shifts import confidence_sequence

    ends = (None, None) if differences is None or not span else confidence_sequence(differences / span, 1 - LEVEL)
    return dict(zip(("bounded_low", "bounded_high"), (end and end * span for end in ends) if span else ends, strict=True))


def _named(found: MeanDifference) -> _Row:
    return dict(zip(("difference", "low", "high", "p"), found, strict=True))


def _correct(family: list[_Row]) -> None:
    from scipy import stats

    values = [row["p"] for row in family]
    compared = sum(row["paired"] or row["p"] is not None for row in family)
    tests = [p for p in values if p is not None]
    for row, p in zip(family, holm(values), strict=True):
        row |= {"p_holm": p, "p_bh": None, "tests": len(tests)}
        row["tasks_needed"] = max(FEWEST, math.ceil(1 + math.log2(compared / _SURE))) if row["paired"] else None
        row["can_show"] = not row["paired"] or (bool(tests) and _least_p_holm(tests, row["tasks"]) < _SURE)
    tested = [row for row in family if row["p"] is not None]
    for row, p in zip(tested, stats.false_discovery_control([row["p"] for row in tested]) if tested else [], strict=True):
        row["p_bh"] = float(p)


def _least_p_holm(values: Sequence[float], tasks: int) -> float:
    """Of a row whose shared tasks were all won, with the p-values of all rows as they are: what so many tasks can show at most."""
    least = 2.0 ** (1 - tasks)
    smaller = sorted(p for p in values if p < least)
    return max((len(values) - place) * p for place, p in enumerate([*smaller, least]))


def _advice(row: _Row) -> str:
    text = f"{_side(row, 'a')} against {_side(row, 'b')}: {wording.signed(row['difference'])}{_interval(row)} {_where(row)}"
    if row["low"] is None and not row["judge"]:
        return f"{text}; {_why_no_interval(row)}, so nothing follows about others"
    return f"{text}; {_does_not_follow(row)}{_of_judge(row) if row['judge'] else _follows(row)}"


def _why_no_interval(row: _Row) -> str:
    if row["fewest"] > 1:
        return "it is the same on every task"
    return "one task" if row["tasks"] == 1 else "of one of them there is one task alone"


def _side(row: _Row, side: str) -> str:
    limit = row[f"max_turns_{side}"]
    texts = {"condition": row[f"condition_{side}"], "max_turns": "turn limit not known" if limit is None else f"{limit} turns"}
    more = [texts[name] for name in row["differs"].split(" and ") if name != "team"]
    return str(row[f"team_{side}"]) + (f" ({', '.join(more)})" if more else "")


def _interval(row: _Row) -> str:
    return "" if row["low"] is None else f" ({wording.from_to(row['low'], row['high'])})"


def _where(row: _Row) -> str:
    if not row["paired"]:
        return f"on {'different tasks' if row['shared'] == 0 else 'tasks of which they share only one'} ({row['tasks']} in all)"
    return f"on {row['tasks']} shared tasks, {row['wins']} won, {row['losses']} lost"


def _of_judge(row: _Row) -> str:
    """A difference between the answers of a judge is one of the teams only once labels correct it."""
    text = f"these are the answers of {row['judge']}"
    if row["corrected"] is None:
        return (
            f"{text}, and what teams differ by cannot be separated from judge bias: label units of both in random order (corrected-rates)"
        )
    ends = f"{wording.signed(row['corrected'])} ({wording.from_to(row['corrected_low'], row['corrected_high'])})"
    text = f"{text}; corrected by labels the difference is {ends}"
    if row["corrected_doubt"]:
        return text + str(row["corrected_doubt"])
    sure = f"{wording.p_is(row['corrected_p'])}, {wording.p_value(row['corrected_p_holm'])} corrected for all pairs"
    shown = "a difference" if row["corrected_p_holm"] < _SURE else "no difference shown"
    return f"{text}: {shown} ({sure})"


def _follows(row: _Row) -> str:
    if row["p"] is None:
        few = "" if row["is_yes_or_no"] else f", and the coverage of an interval from so few is about {_HELD_BY_FEW} instead of 95 %"
        needed = f"at least {row['tasks_needed']} are needed" if row["paired"] else "play more tasks"
        return f"fewer than {FEWEST} shared tasks cannot show a difference{few}: {needed}"
    chance = wording.chance(row["p"], row["p_holm"], row["tests"], "comparison")
    if not row["paired"]:
        return f"their values {'differ' if row['p_holm'] < _SURE else 'do not differ beyond chance'} ({chance})"
    if row["p_holm"] < _SURE:
        return f"a difference on tasks like these ({chance})"
    if not row["can_show"]:
        few = (
            f"{row['tasks']} shared tasks cannot show a difference among {wording.counted(row['tests'], 'comparison')}, even if all are won"
        )
        return f"{few}: at least {row['tasks_needed']} are needed ({chance})"
    if row["p"] < _SURE:
        among = wording.counted(row["tests"], "comparison")
        return f"no difference shown: among {among} one this large comes up by chance ({chance}): play more tasks"
    beyond = (
        "the interval excludes 0, the exact test does not: play more tasks"
        if (row["low"] or 0) > 0
        else "a difference outside the interval is unlikely"
    )
    return f"no difference shown ({chance}); {beyond}"


def _does_not_follow(row: _Row) -> str:
    """What no number of the row can show, in front of what it shows."""
    if not row["paired"]:
        return "teams and tasks cannot be distinguished: have both play the same tasks, or see cotrace report ability; "
    if " and " in row["differs"]:
        return f"{row['differs']} differ at once, so which of them matters is not known; "
    return ""
