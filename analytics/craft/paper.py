"""Cells of the CRAFT paper that take more than a query: means of groups of models, correlations over models, and a mediation.

The queries take the papers' reading of verdicts: in SG and MM whatever is neither yes nor no counts 0.5, N/A too; in PS only `unclear`
does, and N/A, which PS6 alone offers, is left out (a stray N/A of another question is missing there as well).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from analytics.papers import TableCell, units
from analytics.query import query
from schemas.store.store import Store


def features(store: Store, filled: Callable[[str], str]) -> list[TableCell]:
    """Table 7: features of a model against its progress, one point a model, and unique perspective (MM5) by way of the remove gap."""
    from scipy import stats

    table = query(
        store,
        filled("""
        SELECT "row", name, avg(value) AS value FROM (
            SELECT {team} AS "row", 'remove gap' AS name, remove_gap_any AS value FROM craft_game_facts
            UNION ALL SELECT {team}, 'progress', overall_progress FROM craft_game_facts
            UNION ALL SELECT "row", question, value FROM {verdicts} WHERE question IN ('MM1', 'MM5', 'MM6', 'MM7', 'SG3', 'SG5')
            UNION ALL SELECT "row", rubric_name, value FROM {verdicts} WHERE rubric_name IN ('MM', 'SG')
            UNION ALL SELECT {team_of_game}, 'message length',
                len(regexp_extract_all(text, '\\S+')) FROM utterances INNER JOIN games USING (episode_id)
                WHERE games.benchmark = 'craft' AND channel = 'public' AND NOT superseded
        ) WHERE value IS NOT NULL GROUP BY "row", name ORDER BY ALL
        """),
    )
    values: dict[str, dict[str, float]] = {}
    for row, name, value in table.iter_rows():
        values.setdefault(name, {})[row] = value
    progress, cells = values.pop("progress", {}), []
    for name, by_team in values.items():
        x, y = _paired(by_team, progress)
        if len(x) < _POINTS or len(set(x)) == 1 or len(set(y)) == 1:
            continue
        pearson, rho = stats.pearsonr(x, y), float(stats.spearmanr(x, y).statistic)
        ends = pearson.confidence_interval(0.95)
        cells.append(TableCell(name, "Pearson r", float(pearson.statistic), None, float(ends.low), float(ends.high), len(x)))
        cells.append(TableCell(name, "Spearman rho", rho, None, None, None, len(x)))
    return cells + list(_mediation(*_paired(values.get("MM5", {}), values.get("remove gap", {}), progress)))


_POINTS: Final = 4
"""Models of which a correlation is given: an interval needs four."""


def _paired(*features: Mapping[str, float]) -> list[list[float]]:
    teams = sorted(set.intersection(*map(set, features)))
    return [[feature[team] for team in teams] for feature in features]


def _mediation(x: Sequence[float], mediator: Sequence[float], y: Sequence[float]) -> Iterator[TableCell]:
    """R2 of either and both, partial correlation, and the standardised paths of x over the mediator to y (Baron and Kenny 1986).

    The interval of the partial correlation is Fisher's with n - 4 degrees of freedom; a model is a point, so few models show little.
    """
    n = len(x)
    if n < _POINTS + 1 or any(len(set(one)) == 1 for one in (x, mediator, y)):
        return
    (_, xm, xy), (_, _, my), _ = np.corrcoef([x, mediator, y])
    if 1 - abs(xm) < 1e-9 or 1 - abs(my) < 1e-9:  # noqa: PLR2004 - one is the other: no part of it is left over
        return
    direct, by_mediator = (xy - xm * my) / (1 - xm**2), (my - xm * xy) / (1 - xm**2)
    both, partial = direct * xy + by_mediator * my, (xy - xm * my) / ((1 - xm**2) * (1 - my**2)) ** 0.5
    half = 1.959964 / (n - _POINTS) ** 0.5
    low, high = np.tanh(np.arctanh(np.clip(partial, -1 + 1e-12, 1 - 1e-12)) + np.array([-half, half]))
    for row, column, value in (
        ("MM5", "R2", xy**2),
        ("remove gap", "R2", my**2),
        ("MM5 + remove gap", "R2", both),
        ("MM5 + remove gap", "R2 added by MM5", both - my**2),
        ("MM5 -> remove gap -> progress", "path to the mediator", xm),
        ("MM5 -> remove gap -> progress", "path from the mediator", by_mediator),
        ("MM5 -> remove gap -> progress", "indirect", xm * by_mediator),
        ("MM5 -> remove gap -> progress", "direct", direct),
    ):
        yield TableCell(row, column, float(value), n=n)
    yield TableCell("MM5 | remove gap", "partial r", float(partial), None, float(low), float(high), n)


def judged_means(store: Store, filled: Callable[[str], str]) -> list[TableCell]:
    """Table 6: means of each model, then of the models of a group, with the paper's standard error (ddof 0) over models."""
    of_teams = filled("""
        SELECT "row", rubric_name AS col, "cluster", value FROM {verdicts}
        UNION ALL SELECT {team}, 'progress', structure_id, overall_progress FROM craft_game_facts
    """)
    teams = units(of_teams)(store)
    known = query(
        store,
        "SELECT model, CASE model_group WHEN 'frontier' THEN 'Frontier Avg' ELSE 'Open-Weight Avg' END AS model_group, reasoning "
        "FROM craft_model_groups",
    ).rows()
    names = {model: (group, *(["Reasoning Avg"] if reasons else ["Not reasoning Avg"])) for model, group, reasons in known}
    by_group: dict[tuple[str, str], list[float]] = {}
    for cell in teams:
        for group in names.get(re.sub(r"[^a-z0-9]", "", cell.row.rpartition("/")[2].lower()), ()):
            if cell.value is not None:
                by_group.setdefault((group, cell.column), []).append(cell.value)
    return teams + [
        TableCell(
            group, column, float(np.mean(values)), float(np.std(values) / len(values) ** 0.5) if len(values) > 1 else None, n=len(values)
        )
        for (group, column), values in by_group.items()
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
