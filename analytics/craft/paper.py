"""Cells of the CRAFT paper that take more than a query: means of groups of models, correlations over models, and a mediation.

The queries take the papers' reading of verdicts: in SG and MM whatever is neither yes nor no counts 0.5, N/A too; in PS only `unclear`
does, and N/A, which PS6 alone offers, is left out (a stray N/A of another question is missing there as well).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from analytics.papers import TableCell, ends, units
from analytics.query import query
from schemas.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scores(store: Store, filled: Callable[[str], str]) -> list[TableCell]:
    """Mean score of each team by each judge, of every question and rubric; columns are their names.

    As the released code has it: in each run (repeat) the mean of each question, then over a rubric's questions; over runs their mean and
    standard error (ddof 1), none of one run. The interval is over structures.
    """
    rows = query(
        store,
        filled(
            'SELECT judge, "row", name, question, repeat, "cluster", sum(value) AS total, count(*) AS n '
            "FROM {verdicts}, LATERAL (VALUES (rubric_name), (question)) AS names (name) GROUP BY ALL ORDER BY ALL"
        ),
    )
    of_name, cells = ("judge", "row", "name"), []
    in_run = pl.col("question").n_unique().over(*of_name, "repeat") * pl.col("n").sum().over(*of_name, "question", "repeat")
    weighed = rows.with_columns(weight=1 / (in_run * pl.col("repeat").n_unique().over(*of_name)))
    for (judge, row, name), part in weighed.group_by(of_name, maintain_order=True):
        n = int(part["n"].sum())
        by_task = part.group_by("cluster", maintain_order=True).agg(
            (pl.col("weight") * pl.col("total") * n).sum(), (pl.col("n") * pl.col("weight") * n).sum()
        )
        runs = part.group_by("repeat").agg((pl.col("weight") * pl.col("total")).sum())["weight"]
        sem = float(np.std(runs.to_numpy(), ddof=1)) * len(runs) ** 0.5 if len(runs) > 1 else None
        low, high = ends(by_task["weight"].to_numpy(), by_task["n"].to_numpy(), is_share=True)
        cells.append(TableCell(str(row), str(name), float(runs.sum()), sem, low, high, n, str(judge)))
    return cells


def features(store: Store, filled: Callable[[str], str]) -> list[TableCell]:
    """Table 7: features of a model against its progress, one point a model, and unique perspective (MM5) by way of the remove gap."""
    from scipy import stats

    table = query(
        store,
        filled("""
        SELECT "row", name, avg(value) AS value FROM (
            SELECT {team} AS "row", 'remove gap' AS name, remove_gap_any AS value FROM craft_game_facts
            UNION ALL SELECT {team}, 'progress', overall_progress FROM craft_game_facts
            UNION ALL SELECT {team_of_game}, 'message length',
                len(regexp_extract_all(text, '\\S+')) FROM utterances INNER JOIN games USING (episode_id)
                WHERE games.benchmark = 'craft' AND agent <> 'Builder' AND channel = 'public' AND NOT superseded
        ) WHERE value IS NOT NULL GROUP BY "row", name ORDER BY ALL
        """),
    )
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row, name, value in table.iter_rows():
        values.setdefault((name, ""), {})[row] = value
    for cell in scores(store, filled):
        if cell.column in _FEATURES and cell.value is not None:
            values.setdefault((cell.column, cell.judge), {})[cell.row] = cell.value
    progress, cells = values.pop(("progress", ""), {}), []
    for (name, judge), by_team in values.items():
        x, y = _paired(by_team, progress)
        if len(x) < _POINTS or len(set(x)) == 1 or len(set(y)) == 1:
            continue
        pearson = stats.pearsonr(x, y)
        rho = float(stats.spearmanr(np.round(x, 12), np.round(y, 12)).statistic)  # means that were added up in another order stay ties
        low, high = pearson.confidence_interval(0.95)
        cells.append(TableCell(name, "Pearson r", float(pearson.statistic), None, float(low), float(high), len(x), judge))
        cells.append(TableCell(name, "Spearman rho", rho, n=len(x), judge=judge))
        if name == "MM5":
            cells += [cell._replace(judge=judge) for cell in _mediation(*_paired(by_team, values.get(("remove gap", ""), {}), progress))]
    return cells


_FEATURES: Final = ("MM", "MM1", "MM5", "MM6", "MM7", "SG", "SG3", "SG5")
_POINTS: Final = 4
"""Models of which a correlation is given: an interval needs four."""
_DRAWS: Final = 2000


def _paired(*features: Mapping[str, float]) -> list[list[float]]:
    teams = sorted(set.intersection(*map(set, features)))
    return [[feature[team] for team in teams] for feature in features]


def _mediation(x: Sequence[float], mediator: Sequence[float], y: Sequence[float]) -> Iterator[TableCell]:
    """R2 of either and both, partial correlation, and the standardised paths of x over the mediator to y (Baron and Kenny 1986).

    The interval of the partial correlation is Fisher's with n - 4 degrees of freedom, those of the paths are of a percentile bootstrap over
    models (MacKinnon et al. 2004); a model is a point, so few models show little.
    """
    n = len(x)
    if n < _POINTS + 1 or any(len(set(one)) == 1 for one in (x, mediator, y)):
        return
    points = np.array([x, mediator, y])
    found = _paths(points)
    if not np.isfinite(found["partial r"]):  # one is the other: no part of it is left over
        return
    half = 1.959964 / (n - _POINTS) ** 0.5
    low, high = np.tanh(np.arctanh(np.clip(found["partial r"], -1 + 1e-12, 1 - 1e-12)) + np.array([-half, half]))
    yield TableCell("MM5 | remove gap", "partial r", float(found["partial r"]), None, float(low), float(high), n)
    for row, column in (
        ("MM5", "R2"),
        ("remove gap", "R2"),
        ("MM5 + remove gap", "R2"),
        ("MM5 + remove gap", "R2 added by MM5"),
    ):
        yield TableCell(row, column, float(found[f"{row} {column}"]), n=n)
    drawn = _paths(points[:, np.random.default_rng(n).integers(n, size=(_DRAWS, n))])
    for column in ("path to the mediator", "path from the mediator", "indirect", "direct"):
        low, high = np.nanpercentile(drawn[column], [2.5, 97.5])
        yield TableCell("MM5 -> remove gap -> progress", column, float(found[column]), None, float(low), float(high), n)


def _paths(points: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Of x, mediator and y, shape (3, ..., models): each number of the mediation, shape (...); nan where one is constant or the other."""
    apart = points - points.mean(axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        norms = apart / np.sqrt((apart**2).sum(axis=-1, keepdims=True))
        xm, xy, my = ((norms[one] * norms[other]).sum(axis=-1) for one, other in ((0, 1), (0, 2), (1, 2)))
        rest, of_mediator = (np.where(1 - abs(one) < _SAME, np.nan, 1 - one**2) for one in (xm, my))
        direct, by_mediator = (xy - xm * my) / rest, (my - xm * xy) / rest
        both, partial = direct * xy + by_mediator * my, (xy - xm * my) / np.sqrt(rest * of_mediator)
    return {
        "MM5 R2": xy**2,
        "remove gap R2": my**2,
        "MM5 + remove gap R2": both,
        "MM5 + remove gap R2 added by MM5": both - my**2,
        "partial r": partial,
        "path to the mediator": xm,
        "path from the mediator": by_mediator,
        "indirect": xm * by_mediator,
        "direct": direct,
    }


_SAME: Final = 1e-9


def judged_means(store: Store, filled: Callable[[str], str]) -> list[TableCell]:
    """Table 6: means of each model by each judge, then of the models of a group, with the paper's standard error (ddof 0) over models."""
    progress = units(
        filled('SELECT {team} AS "row", \'progress\' AS col, structure_id AS "cluster", overall_progress AS value FROM craft_game_facts')
    )
    teams = [cell for cell in scores(store, filled) if cell.column in {"SG", "MM", "PS"}] + progress(store)
    known = query(
        store,
        "SELECT model, CASE model_group WHEN 'frontier' THEN 'Frontier Avg' ELSE 'Open-Weight Avg' END AS model_group, reasoning "
        "FROM craft_model_groups",
    ).rows()
    names = {model: (group, *(["Reasoning Avg"] if reasons else ["Not reasoning Avg"])) for model, group, reasons in known}
    by_group: dict[tuple[str, str, str], list[float]] = {}
    for cell in teams:
        for group in names.get(re.sub(r"[^a-z0-9]", "", cell.row.rpartition("/")[2].lower()), ()):
            if cell.value is not None:
                by_group.setdefault((group, cell.column, cell.judge), []).append(cell.value)
    return teams + [
        TableCell(
            group,
            column,
            float(np.mean(values)),
            float(np.std(values) / len(values) ** 0.5) if len(values) > 1 else None,
            n=len(values),
            judge=judge,
        )
        for (group, column, judge), values in by_group.items()
    ]


def adherence(store: Store, _: object) -> list[TableCell]:
    """Table 8: rank correlation, over turns, of attempted removals and of the gap with full adherence."""
    from scipy import stats

    turns = query(
        store,
        "SELECT attempted_remove::INT, attempted_remove::INT - oracle_remove_any::INT, followed_full::INT FROM craft_turn_facts "
        "WHERE oracle_available AND attempted_remove IS NOT NULL AND oracle_remove_any IS NOT NULL ORDER BY episode_id, turn",
    ).to_numpy()
    return [
        TableCell(
            "Turn-level Spearman with full adherence", column, float(stats.spearmanr(turns[:, place], turns[:, 2]).statistic), n=len(turns)
        )
        for place, column in enumerate(("attempted remove rate", "gap"))
        if len(turns) >= _POINTS and turns[:, place].std() and turns[:, 2].std()
    ]
