"""The reports `effects` and `correlations`: what predicts outcomes, and which numbers vary together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from analytics.comparison.game_values import (
    TURN_COLUMNS,
    codes,
    game_rows,
    game_values,
    judge_columns,
    numbers_of_games,
    say_little,
    turn_rows,
    with_judges,
)
from analytics.report_columns import framed
from analytics.statistics.regressions import (
    Coefficient,
    clustered_regression,
    correlation,
    dummies,
    mean_by,
    mixed_coefficient,
    ranks,
    without,
)
from analytics.statistics.shifts import holm
from schemas.common import wording
from schemas.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SURE: Final = 0.05
_FEWEST_TASKS: Final = 5
_FEWEST_ROWS: Final = 20
_LEVELS: Final = range(2, 7)
"""Values of a condition's switch that are compared; more are a number, not a switch."""
_Row = dict[str, Any]


class _Question(NamedTuple):
    """One coefficient that is asked for."""

    unit: str
    outcome: str
    predictor: str
    rows: pl.DataFrame
    """With the outcome, the predictor, team_name, task, and turn of turns."""
    means: str
    """What one more of the predictor is, in words."""
    set_by: str = "team"
    """Who decides about the predictor: team, or experimenter."""


def effects(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each predictor of an outcome: turns on which advice was followed, judges' answers, the switches of conditions.

    Columns: `report_columns.csv`.
    """
    rows: list[_Row] = []
    turns, games = turn_rows(store, benchmark), game_rows(store, benchmark)
    for benchmark_and_game in (
        pl.concat(part.select("benchmark", "game") for part in (turns, games)).unique().sort(pl.all()).iter_rows(named=True)
    ):
        of_turns, of_games = (
            part.filter(pl.col(name).eq_missing(value) for name, value in benchmark_and_game.items()) for part in (turns, games)
        )
        asked = [*_of_turns(of_turns), *_of_switches(of_games)]
        family = [benchmark_and_game | found for question in asked if (found := _answer(question)) is not None]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            row["advice"] = _advice(row, len(family))
        rows += family
    return framed("effects", rows)


def _of_turns(turns: pl.DataFrame) -> Iterator[_Question]:
    yield _Question("turns", "gain", "followed", turns, "following advice, against acting otherwise")
    yield _Question("turns", "gain", "words", turns, "a word more in each message")
    for judged in judge_columns(turns):
        for outcome in ("gain", "followed"):
            yield _Question("turns", outcome, judged, turns, f"{judged.removeprefix('judge:')}, yes to all against no to all")


def _of_switches(games: pl.DataFrame) -> Iterator[_Question]:
    if games.is_empty():
        return
    parsed = [{key: str(value) for key, value in (json.loads(text) or {}).items()} for text in games["switches"]]
    seen: set[tuple[float, ...]] = set()
    for key in sorted({key for one in parsed for key in one}):
        values = [one.get(key, "not set") for one in parsed]
        if len(set(values)) not in _LEVELS:
            continue
        for column, ones in dummies(values, f"{key}=").items():
            if tuple(ones) in seen:  # the same games by another name
                continue
            seen.add(tuple(ones))
            base = min(set(values), key=lambda value: (-values.count(value), value))
            chosen = [value == base or bool(one) for value, one in zip(values, ones, strict=True)]
            rows = games.with_columns(pl.Series(column, ones)).filter(pl.Series(chosen))
            for outcome in ("score", "success"):
                part = rows.with_columns(pl.col(outcome).cast(pl.Float64))
                yield _Question("games", outcome, column, part, f"{column}, against {key}={base}", "experimenter")


def _answer(question: _Question) -> _Row | None:
    rows = question.rows.filter(pl.col(question.outcome).is_finite() & pl.col(question.predictor).is_finite())
    if len(rows) < _FEWEST_ROWS or _tasks_that_tell(rows, question.predictor) < _FEWEST_TASKS:
        return None
    clusters, outcome, predictor = codes(rows["task"]), *(rows[name].to_numpy() for name in (question.outcome, question.predictor))
    if say_little(outcome, predictor):
        return None
    held, terms = _held_fixed(question, rows, predictor, clusters)
    columns = {**held, question.predictor: predictor}
    yes_or_no = question.outcome in {"followed", "success"}
    found = clustered_regression(outcome, columns, clusters, yes_or_no=yes_or_no).get(question.predictor)
    if found is None:
        return None
    mixed = None if yes_or_no else mixed_coefficient(outcome, columns, clusters, question.predictor)
    formula = " + ".join([f"{'log odds of ' if yes_or_no else ''}{question.outcome} ~ {question.predictor}", *terms])
    return {
        "unit": question.unit,
        "outcome": question.outcome,
        "predictor": question.predictor,
        "n": len(rows),
        "games": rows["episode_id"].n_unique(),
        "tasks": rows["task"].n_unique(),
        "scale": "log odds" if yes_or_no else "difference",
        **_numbers(found, mixed, yes_or_no=yes_or_no),
        "formula": formula,
        "means": question.means,
        "set_by": question.set_by,
        "teams": rows["team_name"].n_unique(),
    }


def _tasks_that_tell(rows: pl.DataFrame, predictor: str) -> int:
    """Tasks with a unit whose predictor is not the most frequent value."""
    usual = rows[predictor].mode().sort()[0]
    return rows.filter(pl.col(predictor) != usual)["task"].n_unique()


def _numbers(found: Coefficient, mixed: Coefficient | None, *, yes_or_no: bool) -> _Row:
    import math

    value, low, high, p = found
    return {
        "coefficient": value,
        "low": low,
        "high": high,
        "p": p,
        "odds_ratio": math.exp(value) if yes_or_no else None,
        "mixed": mixed and mixed.value,
        "mixed_low": mixed and mixed.low,
        "mixed_high": mixed and mixed.high,
    }


def _held_fixed(
    question: _Question, rows: pl.DataFrame, predictor: Floats, clusters: NDArray[np.int64]
) -> tuple[Mapping[str, Floats], list[str]]:
    """Columns next to the predictor, and their names. Its mean in the task leaves the difference inside tasks (Mundlak 1978)."""
    held: dict[str, Floats] = dummies(rows["team_name"].to_list(), "team ")
    terms = ["team"] if held else []
    if question.unit == "turns":
        turn = rows["turn"].to_numpy().astype(float)
        held |= {"turn": turn, "turn squared": turn**2}
        terms += ["turn + turn^2"]
    held["mean in the task"] = mean_by(predictor, clusters)
    return held, [*terms, f"mean of {question.predictor} in the task"]


def _advice(row: _Row, tests: int) -> str:
    size = f"odds ratio {wording.number(row['odds_ratio'])}" if row["odds_ratio"] is not None else wording.signed(row["coefficient"])
    where = f"{row['n']} {row['unit']} of {row['tasks']} tasks"
    about = f"{row['means']}: {row['outcome']} {size} ({row['scale']} {wording.from_to(row['low'], row['high'])}) on {where}"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}: no effect shown ({chance}); a difference outside the interval is unlikely"
    return f"{about}: they go together ({chance}), with the same team and task; {_caution(row)}"


def _caution(row: _Row) -> str:
    if row["set_by"] == "experimenter":
        return "an effect of the switch if nothing else changed with it (check the runs' conditions)"
    return "no proof of a cause: what makes a turn easy may make both, and teams chose when to do it"


KINDS: Final = ("pooled", "within teams", "between teams", "partial")
"""Pooled: all units alike. Within teams: each team's mean taken out. Between teams: one point a team. Partial: team, task and, of turns,
turn and turn squared taken out."""

_METRICS: Final = (
    "adherence",
    "refused",
    "clarify",
    "undoing",
    "remove_gap",
    "spirals",
    "turns_wasted",
    "message_length",
    "messages",
    "tokens",
)
_FEWEST: Final = 8
_ALL_ON_A_LINE: Final = 1 - 1e-9


def correlations(store: Store, *, metric: str = "score", benchmark: str | None = None) -> pl.DataFrame:
    """One row for each pair of numbers and each kind of correlation; the kind is always named, since kinds contradict each other.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such metric.
    """
    games, turns = _games(store, metric), turn_rows(store, benchmark)
    if benchmark is not None:
        games = games.filter(pl.col("benchmark") == benchmark)
    rows: list[_Row] = []
    for name, game in pl.concat(part.select("benchmark", "game") for part in (turns, games)).unique().sort(pl.all()).iter_rows():
        of_turns, of_games = (part.filter(pl.col("benchmark") == name, pl.col("game").eq_missing(pl.lit(game))) for part in (turns, games))
        family = [
            {"benchmark": name, "game": game} | row
            for unit, part, y in (("games", of_games, metric), ("turns", of_turns, "gain"))
            for x in _columns(part, unit)
            if x != y
            for row in _kinds(part, unit, x, y)
        ]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
        for row in family:
            row["advice"] = _correlations_advice(row, family)
        rows += family
    return framed("correlations", rows)


def _games(store: Store, metric: str) -> pl.DataFrame:
    """Each game that has the metric, with all other numbers it has as columns."""
    games = game_values(store, metric).select("episode_id", "benchmark", "game", "team_name", "task", pl.col("value").alias(metric))
    for name in _METRICS:
        if name != metric:
            found = numbers_of_games(store, name).select("episode_id", pl.col("value").alias(name))
            games = games.join(found, on="episode_id", how="left", maintain_order="left")
    return with_judges(store, games, ["episode_id"])


def _columns(rows: pl.DataFrame, unit: str) -> list[str]:
    judged = judge_columns(rows)
    return [name for name in (*(TURN_COLUMNS if unit == "turns" else _METRICS), *judged) if name in rows.columns]


def _kinds(rows: pl.DataFrame, unit: str, x: str, y: str) -> Iterator[_Row]:
    rows = rows.filter(pl.col(x).is_finite() & pl.col(y).is_finite())
    if len(rows) < _FEWEST or rows[x].n_unique() == 1 or rows[y].n_unique() == 1:
        return
    first, second, clusters = rows[x].to_numpy().astype(float), rows[y].to_numpy().astype(float), codes(rows["task"])
    teams = dummies(rows["team_name"].to_list(), "team ")
    shared = {"unit": unit, "x": x, "y": y, "n": len(rows), "teams": len(teams) + 1, "tasks": int(clusters.max()) + 1}
    shared["is_seldom"] = say_little(first, second)
    held = teams | dummies(rows["task"].to_list(), "task ")
    if unit == "turns":
        turn = rows["turn"].to_numpy().astype(float)
        held |= {"turn": turn, "turn squared": turn**2}
    yield from _measured(shared | {"kind": "pooled"}, first, second, clusters, {})
    if teams:
        yield from _measured(shared | {"kind": "within teams"}, first, second, clusters, teams, groups=codes(rows["team_name"]))
    means = rows.group_by("team_name", maintain_order=True).agg(pl.col(x).mean(), pl.col(y).mean())
    if len(means) > 2:  # noqa: PLR2004 - two points always lie on a line
        a, b = means[x].to_numpy(), means[y].to_numpy()
        between = shared | {"kind": "between teams", "n": len(means), "is_seldom": False}
        yield from _measured(between, a, b, codes(means["team_name"]), {})
    if len(held) < len(rows) - _FEWEST:
        groups = codes(rows["team_name"]) if teams else None
        yield from _measured(shared | {"kind": "partial"}, first, second, clusters, held, groups=groups)


def _measured(  # noqa: PLR0913
    row: _Row, x: Floats, y: Floats, clusters: NDArray[np.int64], held: dict[str, Floats], *, groups: NDArray[np.int64] | None = None
) -> Iterator[_Row]:
    """`groups`: where `held` are the levels of groups, which group each row is of."""
    import numpy as np

    rest = without(np.column_stack([x, y, ranks(x), ranks(y)]), held)
    pearson = correlation(rest[:, 0], rest[:, 1], clusters, len(held), groups)
    if pearson is None:
        return
    spearman = correlation(rest[:, 2], rest[:, 3], clusters, len(held), groups)
    names = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    found = dict(zip(names, (*pearson[:3], *(spearman or (None,) * 3)[:3]), strict=True)) | {"p": pearson.p}
    if row["is_seldom"]:
        found |= dict.fromkeys(name for name in found if name not in {"pearson", "spearman"})
    yield row | found


def _correlations_advice(row: _Row, family: list[_Row]) -> str:
    about = f"{row['x']} and {row['y']}, {row['unit']}, {row['kind']}: r = {wording.coefficient(row['pearson'])}"
    if row["is_seldom"]:
        return f"{about}; {row['x']} or {row['y']} hardly varies: too few units are informative, so nothing follows"
    if row["p"] is None:
        over = "teams" if row["kind"] == "between teams" else "tasks"
        if abs(row["pearson"]) > _ALL_ON_A_LINE:
            return f"{about}: all on one line, so leaving out {over} gives no interval; a definition may join them, or there are few {over}"
        return f"{about}; too few {over} for an interval: nothing follows"
    rho = "" if row["spearman"] is None else f", rho = {wording.coefficient(row['spearman'])}"
    about += f" ({wording.coefficient(row['pearson_low'])} to {wording.coefficient(row['pearson_high'])}){rho}"
    chance = wording.chance(row["p"], row["p_holm"], sum(other["p"] is not None for other in family))
    if row["p_holm"] >= _SURE:
        return f"{about}; none shown ({chance})"
    return f"{about}; {_means(row)} ({chance}){_against(row, family)}"


def _means(row: _Row) -> str:
    return {
        "pooled": "they correlate over all units, which mixes effects inside teams with differences between teams",
        "within teams": "units of the same team go together",
        "between teams": f"teams go together, {row['n']} points: anything else that differs between these teams may be the cause",
        "partial": "they go together with the same team, task and turn; no proof of a cause",
    }[str(row["kind"])]


def _against(row: _Row, family: list[_Row]) -> str:
    """Kinds of the same pair that say the opposite."""
    same = [other for other in family if (other["unit"], other["x"], other["y"]) == (row["unit"], row["x"], row["y"])]
    kinds = [other["kind"] for other in same if other["pearson"] * row["pearson"] < 0 and (other["p_holm"] or 1) < _SURE]
    return f"; the opposite holds {' and '.join(kinds)}" if kinds else ""
