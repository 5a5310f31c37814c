"""Any number of the store, by game or turn: the metrics by which teams are compared, and the names of teams."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import polars as pl
import yaml

from analytics.query import query
from schemas.common.errors import UsageError
from schemas.common.text import near
from schemas.families import families
from schemas.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of a game."""

    name: str
    sql: str
    """Gives episode_id and value; games without the number have no row or null."""
    doc: str
    low: float | None = None
    """Lower bound of the values; None: none is known."""
    high: float | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    """Of the SQL."""


METRICS: Final[dict[str, Metric]] = {
    name: Metric(name=name, **facts)
    for name, facts in yaml.safe_load((files("analytics.comparison") / "metrics.yaml").read_text(encoding="utf-8")).items()
}
"""By name. In addition: each metric of `episode_metrics` by its name, `cost:<measure>` and `judge:<rubric>.<question>` (`game_values`)."""

LOGGED: Final = "SELECT episode_id, value FROM episode_metrics WHERE metric = $name"
COST: Final = """
    SELECT episode_id, CASE WHEN NOT bool_or(kind = 'none') THEN sum(cost) END AS value
    FROM turn_values WHERE measure = $name GROUP BY episode_id
"""
"""Unknown where a turn has no value."""
JUDGED: Final = """
    SELECT episode_id, avg(score) AS value
    FROM (
        SELECT episode_id, unit_id, avg(score) AS score FROM verdicts_latest
        WHERE rubric || '.' || question = $name AND judge = $judge AND variant IS NULL AND score IS NOT NULL GROUP BY ALL
    )
    GROUP BY episode_id
"""


def game_values(store: Store, metric: str) -> pl.DataFrame:
    """One row a game that has the number: columns of the view `compared_games`, then value, and low and high, its bounds.

    Bounds are null where none is known. Only games that ended are in.

    Args:
        store: a store with the views.
        metric: a key of `METRICS`; a metric of `episode_metrics` (`craft.iou_score`, or `iou_score` where one benchmark has it);
            `cost:<measure>`: what the turns of a game cost by that measure of `turn_values`, summed; `judge:<rubric>.<question>`: mean
            score of the judge that answered most of it, or of another, `judge:<rubric>.<question>@<judge>`.

    Raises:
        UsageError: the store has no such number.
        StoreError: the store cannot be read.
    """
    found = metric_of(store, metric)
    low, high = ("NULL" if end is None else str(end) for end in (found.low, found.high))
    if found.name == "score":
        low, high = "CASE WHEN score_max IS NOT NULL THEN 0 END", "score_max"
    return query(
        store,
        "SELECT compared_games.* EXCLUDE (error, file, seed, stop_reason), "
        f"measured.value::DOUBLE AS value, ({low})::DOUBLE AS low, ({high})::DOUBLE AS high "
        f"FROM ({found.sql}) AS measured INNER JOIN compared_games USING (episode_id) "
        "WHERE compared_games.ending = 'ended' AND isfinite(measured.value::DOUBLE) ORDER BY episode_id",
        dict(found.parameters) or None,
    )


def numbers_of_games(store: Store, metric: str) -> pl.DataFrame:
    """The same numbers alone, of games that did not end too: episode_id, value. Quicker where games are known already.

    Raises:
        UsageError: the store has no such number.
        StoreError: the store cannot be read.
    """
    found = metric_of(store, metric)
    sql = f"SELECT episode_id, value::DOUBLE AS value FROM ({found.sql}) WHERE isfinite(value::DOUBLE) ORDER BY episode_id"
    return query(store, sql, dict(found.parameters) or None)


def metric_of(store: Store, metric: str) -> Metric:
    """What a metric is and how it is computed; `metric` as in `game_values`.

    Raises:
        UsageError: the store has no such number.
    """
    kind, _, name = metric.partition(":")
    if kind == "cost":
        _refuse_unknown(store, metric, name, "SELECT DISTINCT measure FROM turn_values ORDER BY ALL", "measure")
        return Metric(name=metric, sql=COST, doc="what its turns cost, summed", parameters=(("name", name),))
    if kind == "judge":
        question, _, judge = name.partition("@")
        main = _main_judge(store, question)
        if judge:
            _refuse_unknown(store, metric, judge, "SELECT DISTINCT judge FROM verdicts_latest ORDER BY ALL", "judge")
        parameters = (("name", question), ("judge", judge or main))
        return Metric(name=metric, sql=JUDGED, doc="mean score over its units", low=0.0, high=1.0, parameters=parameters)
    return METRICS[metric] if metric in METRICS else _logged(store, metric)


def judge_of(store: Store, metric: str) -> tuple[str, str] | None:
    """Of a metric `judge:<rubric>.<question>` rubric and question as one name, and whose answers they are; None of others.

    Raises:
        UsageError: the store has no such answers.
    """
    if not metric.startswith("judge:"):
        return None
    found = dict(metric_of(store, metric).parameters)
    return found["name"], found["judge"]


def _refuse_unknown(store: Store, metric: str, name: str, sql: str, kind: str) -> None:
    known = query(store, sql).to_series().to_list()
    if name not in known:
        raise UsageError(f"metric {metric}: the store has no {kind} {name}{near(name, known)}")


def _logged(store: Store, name: str) -> Metric:
    ends = query(
        store,
        "SELECT metric, min(value) >= 0 AND max(value) <= 1 AS is_share FROM episode_metrics "
        "WHERE $name IN (metric, split_part(metric, '.', 2)) GROUP BY metric ORDER BY metric",
        {"name": name},
    ).rows()
    if len(ends) > 1:
        raise UsageError(f"metric {name}: several benchmarks have it; say which, such as {ends[0][0]}")
    if not ends:
        known = [*METRICS, *query(store, "SELECT DISTINCT metric FROM episode_metrics ORDER BY 1")["metric"]]
        closest = difflib.get_close_matches(name, known, n=3) or known[:8]
        raise UsageError(f"metric {name}: the store has no such number; there are {', '.join(closest)}, ... (docs/compare.md)")
    (full, is_share), bounds = ends[0], {"low": 0.0, "high": 1.0}
    return Metric(name=full, sql=LOGGED, doc="as in episode_metrics", parameters=(("name", full),), **(bounds if is_share else {}))


def _main_judge(store: Store, name: str) -> str:
    found = query(
        store,
        "SELECT judge FROM verdicts_latest WHERE rubric || '.' || question = $name AND variant IS NULL "
        "GROUP BY judge ORDER BY count(score) DESC, judge",
        {"name": name},
    )["judge"].to_list()
    if not found:
        raise UsageError(
            f"metric judge:{name}: no judge has answered that; write judge:<rubric>.<question>, such as judge:spatial_grounding.SG1"
        )
    return str(found[0])


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Team name, as in the view `team_names` -> the players in which it differs from the other teams.

    Where one player of several is left, its role is left out. A name stays as it is where shortening would make two teams the same.
    """
    split = {name: name.split(", ") for name in dict.fromkeys(names)}
    begun = [{part.partition(" ")[0] for part in parts} for parts in split.values() if len(parts) > 1]
    roles = {role for family in families() for role in family.roles}
    roles |= set.intersection(*begun) if len(begun) > 1 else set()  # of logs without a family, those that all teams have
    before_role = re.compile(f", (?=(?:{'|'.join(map(re.escape, sorted(roles)))}) )")  # a model's name may have commas
    players = {name: before_role.split(name) for name in split}
    common = set.intersection(*map(set, players.values())) if len(players) > 1 else set()
    short = {name: _shortened(of_name, common) or name for name, of_name in players.items()}
    return {name: shorter if list(short.values()).count(shorter) == 1 else name for name, shorter in short.items()}


def names_under(rows: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], str]:
    """Team and condition -> the team in few words, with its condition where the same team has another one too."""
    sides = list(dict.fromkeys(rows))
    short = short_names([team for team, _ in sides])
    return dict(zip(sides, unlike_names([(short[team], condition, None) for team, condition in sides]), strict=True))


def unlike_names(sides: Sequence[tuple[str, str | None, int | None]]) -> list[str]:
    """Names of teams, each with its condition and turn limit where another one has the same name without.

    Args:
        sides: team's name, condition, turn limit; no two alike.
    """
    return [_unlike(side, sides) for side in sides]


def _unlike(side: tuple[str, str | None, int | None], sides: Sequence[tuple[str, str | None, int | None]]) -> str:
    name, condition, turns = side
    namesakes = [other for other in sides if other[0] == name and other != side]
    words = [f"under {condition}"] if any(other[1] != condition for other in namesakes) else []
    words += [f"with {turns or 'unknown'} turns"] if any(other[1] == condition for other in namesakes) else []
    return " ".join([name, *words])


def _shortened(players: list[str], common: set[str]) -> str:
    """A lone player is a model's name, which may be of several words: `GPT 4o`."""
    left = [player for player in players if player not in common]
    return left[0].split(" ", 1)[-1] if len(left) == 1 < len(players) else ", ".join(left)


TURN_COLUMNS = ("followed", "accepted", "undoes", "words")
"""Numbers of a turn that the view `compared_turns` has next to gain and progress."""

_FEWEST = 20
"""Units with a score below which a question is left out."""

_FEWEST_BOTH = 3
"""Expected units on which both numbers are unusual, below which `say_little`."""

_JUDGED = """
    SELECT {unit}, 'judge:' || rubric || '.' || question || '@' || judge AS name, avg(score) AS value
    FROM (SELECT episode_id, turn, rubric, question, judge, unit_id, avg(score) AS score FROM verdicts_latest
          WHERE variant IS NULL AND score IS NOT NULL GROUP BY ALL)
    GROUP BY ALL ORDER BY name
"""


def turn_rows(store: Store, benchmark: str | None = None) -> pl.DataFrame:
    """The view `compared_turns`, with a column for each question of each judge: the mean score of the turn's units, 0 to 1."""
    turns = query(store, "SELECT * FROM compared_turns ORDER BY benchmark, episode_id, turn")
    if benchmark is not None:
        turns = turns.filter(pl.col("benchmark") == benchmark)
    return with_judges(store, turns, ["episode_id", "turn"])


def with_judges(store: Store, rows: pl.DataFrame, unit: list[str]) -> pl.DataFrame:
    """The rows with a column `judge:<rubric>.<question>@<judge>` for each question of each judge: the mean score of the unit, 0 to 1.

    Args:
        store: a store with the views.
        rows: with the unit's columns.
        unit: what a row is: episode_id, or episode_id and turn.
    """
    judged = query(store, _JUDGED.format(unit=", ".join(unit)))
    if judged.is_empty():
        return rows
    return rows.join(judged.pivot(on="name", index=unit, values="value"), on=unit, how="left", maintain_order="left")


def judge_columns(rows: pl.DataFrame) -> list[str]:
    """Those of judges that vary and have enough units, in order of name."""
    return [name for name in sorted(rows.columns) if name.startswith("judge:") and _varies(rows[name])]


def _varies(column: pl.Series) -> bool:
    return len(column.drop_nulls()) >= _FEWEST and column.drop_nulls().n_unique() > 1


def game_rows(store: Store, benchmark: str | None = None) -> pl.DataFrame:
    """Games that ended, as in the view `compared_games`, with the condition of their run as JSON text in `switches`."""
    games = query(
        store,
        "SELECT compared_games.*, runs.condition::VARCHAR AS switches FROM compared_games "
        "INNER JOIN episodes USING (episode_id) INNER JOIN runs USING (run_id) WHERE ending = 'ended' ORDER BY benchmark, episode_id",
    )
    return games if benchmark is None else games.filter(pl.col("benchmark") == benchmark)


def say_little(first: Floats, second: Floats) -> bool:
    """Whether two numbers are too seldom other than their most frequent value to be set against each other.

    Were they independent, both would be so on fewer than three units: whether that happens on none or on two decides what goes with what,
    and how sure it is cannot be seen between tasks. There the coverage of intervals of correlations was 26 to 90 % in simulated data sets,
    and in 95 % from three units on; expected counts are asked for since Cochran (1954, Biometrics 10).

    Args:
        first: shape (units,).
        second: likewise.
    """
    import numpy as np

    n = len(first)
    unusual = [n - int(np.unique(values, return_counts=True)[1].max()) for values in (first, second)]
    return unusual[0] * unusual[1] / n < _FEWEST_BOTH


def codes(values: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 without gaps, one for each different value."""
    known = values if values.dtype.is_integer() else values.fill_null("").cast(str)
    return (known.rank("dense") - 1).to_numpy().astype("int64")
