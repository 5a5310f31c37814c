"""How far judges agree with people, with planted truth, with the engine, with one another and with themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from analytics.agreement_advice import advice
from analytics.agreement_answers import answers
from analytics.agreement_bootstrap import cluster_sums, drawn_sums, percentile_interval
from analytics.agreement_measures import gwet_ac1, kappa, krippendorff_alpha, percent_agreement, rate_of_answer
from analytics.agreement_pairs import Comparison, comparisons
from analytics.agreement_scores import COLUMNS as SCORE_COLUMNS
from analytics.agreement_scores import score_columns
from analytics.statistics import wilson
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["COEFFICIENTS", "SUMMARY", "agreement_report"]

COEFFICIENTS: Final = (
    "agreement",
    "kappa",
    "weighted_kappa",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "sensitivity",
    "specificity",
)
"""Columns of the report that have an interval: `<name>_low`, `<name>_high`."""

SUMMARY: Final = (
    "rubric",
    "question",
    "kind",
    "rater_a",
    "rater_b",
    "units",
    "games",
    "agreement",
    "kappa",
    "kappa_low",
    "kappa_high",
    "alpha_nominal",
    "ac1",
    "sensitivity",
    "specificity",
)
"""The columns that fit a terminal, beside the advice."""

_DRAWS = 1000
_FEWEST_CLUSTERS = 2
_SHARES: Final = frozenset({"agreement", "sensitivity", "specificity"})


def agreement_report(store: Store, *, rubric: str | None = None, na_score: float | None = None, draws: int = _DRAWS) -> pl.DataFrame:
    """One row for every question and two raters who answered about the same units; also for each rubric and all rubrics (`ALL`).

    Columns, in order:

    - rubric, question, kind, rater_a, rater_b: a is the reference. Kinds: judge_people, judge_truth, judge_engine, judge_judge,
      people_truth; and, of raters of one side, people (among themselves) and judge_repeats.
    - units: that both answered (of one side: that at least two answered). games: how many. answers_a, answers_b: given about these units.
      pairs: of answers. unanswered: further units that a answered and b was asked about without giving an answer.
    - agreement: share of pairs that are equal, 0 to 1. kappa: Cohen's (of one side Fleiss's) over all answers, N/A included.
      weighted_kappa: with squared differences of the answers' numbers. alpha_nominal, alpha_ordinal, alpha_interval: Krippendorff's; the
      latter two over answers with a number. ac1: Gwet's. sensitivity, specificity: of b's yes and no against a's, other answers left out.
      Between two sides each pair of answers is a unit with two ratings. Formulas and sources: `analytics.agreement_measures`. All with
      `_low` and `_high`: 95 % percentile interval over resampled games; null below two games. Where all games are alike, shares of 0 and 1
      have the Wilson interval of as many trials as games, and coefficients corrected for chance have none.
    - mean_a to consensus_kappa: `analytics.agreement_scores`.
    - confusion: JSON, a's answer -> b's answer -> pairs (of one side: in both orders). advice: what to make of it, in words.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        na_score: the number of N/A in mean_a to consensus_kappa; None: it has none.
        draws: bootstrap samples.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    found = list(comparisons(answers(store, rubric)))
    rows = [_row(compared, na_score, draws) for compared in found]
    told = advice(rows)
    for row, text in zip(rows, told, strict=True):
        row["advice"] = text
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    texts = ("rubric", "question", "kind", "rater_a", "rater_b")
    counts = ("units", "games", "answers_a", "answers_b", "pairs", "unanswered")
    numbers = [name for stem in COEFFICIENTS for name in (stem, f"{stem}_low", f"{stem}_high")]
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String())
    schema |= dict.fromkeys(counts, pl.Int64()) | dict.fromkeys(numbers, pl.Float64())
    schema |= {name: pl.Int64() if name.endswith("_n") else pl.Float64() for name in SCORE_COLUMNS}
    return schema | {"confusion": pl.String(), "advice": pl.String()}


def _row(compared: Comparison, na_score: float | None, draws: int) -> dict[str, object]:
    tables = compared.tables()
    table = tables.sum(axis=0)
    row: dict[str, object] = {
        "rubric": compared.rubric,
        "question": compared.question,
        "kind": compared.kind,
        "rater_a": compared.rater_a,
        "rater_b": compared.rater_b,
        "units": len(tables),
        "games": int(compared.clusters.max()) + 1,
        "answers_a": int(compared.counts_a.sum()),
        "answers_b": int(compared.counts_b.sum()),
        "pairs": int(table.sum()) // (2 if compared.within else 1),
        "unanswered": compared.unanswered,
    }
    row |= _with_intervals(compared, tables, draws)
    row |= score_columns(compared, na_score)
    names = compared.answers
    counted = {a: {b: int(table[i, j]) for j, b in enumerate(names) if table[i, j]} for i, a in enumerate(names) if table[i].any()}
    row["confusion"] = orjson.dumps(counted).decode()
    return row


class _Sums(NamedTuple):
    """What the coefficients are made of; with any axes in front."""

    table: Floats
    coincidence: Floats
    scored_coincidence: Floats
    agreeing: Floats
    shares: Floats


def _with_intervals(compared: Comparison, tables: Floats, draws: int) -> dict[str, float | None]:
    of_units = (tables, compared.coincidences(), compared.coincidences(scored=True), *compared.unit_agreement())
    parts = [cluster_sums(part, compared.clusters) for part in of_units]
    found = _coefficients(compared, _Sums(*(part.sum(axis=0) for part in parts)))
    enough = len(parts[0]) >= _FEWEST_CLUSTERS
    drawn = _coefficients(compared, _Sums(*(drawn_sums(part, draws) for part in parts))) if enough else {}
    row: dict[str, float | None] = {}
    for name, value in found.items():
        number = float(value)
        row[name] = None if math.isnan(number) else number
        interval = percentile_interval(drawn[name]) if name in drawn and row[name] is not None else None
        if interval is not None and interval.low == interval.high:  # no game differs: resampling cannot show how sure that is
            interval = wilson(round(number) * len(parts[0]), len(parts[0])) if name in _SHARES and number in {0.0, 1.0} else None
        row[f"{name}_low"], row[f"{name}_high"] = interval or (None, None)
    return row


def _coefficients(compared: Comparison, sums: _Sums) -> dict[str, Floats]:
    """All coefficients, of one table or of many."""
    import numpy as np

    scored = ~np.isnan(compared.scores)
    values = compared.scores[scored]
    table = sums.table
    numbers = table[..., scored, :][..., :, scored]
    undefined = np.full(table.shape[:-2], np.nan)
    yes, no = _place(compared, "yes", 1.0), _place(compared, "no", 0.0)
    found = {
        "agreement": percent_agreement(table),
        "kappa": kappa(table),
        "weighted_kappa": kappa(numbers, np.subtract.outer(values, values) ** 2) if len(values) else undefined,
        "alpha_nominal": krippendorff_alpha(sums.coincidence, "nominal"),
        "alpha_ordinal": krippendorff_alpha(sums.scored_coincidence, "ordinal") if len(values) else undefined,
        "alpha_interval": krippendorff_alpha(sums.scored_coincidence, "interval", values) if len(values) else undefined,
        "ac1": gwet_ac1(sums.agreeing, sums.shares),
        "sensitivity": undefined,
        "specificity": undefined,
    }
    if yes is not None and no is not None and not compared.within:
        found |= {"sensitivity": rate_of_answer(table, yes, no), "specificity": rate_of_answer(table, no, yes)}
    return found


def _place(compared: Comparison, answer: str, score: float) -> int | None:
    """Where that answer stands, else the one answer with that score; None if none or several have it."""
    import numpy as np

    if answer in compared.answers:
        return compared.answers.index(answer)
    found = np.flatnonzero(compared.scores == score)
    return int(found[0]) if len(found) == 1 else None
