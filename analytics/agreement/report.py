"""How far judges agree with people, with planted truth, with the engine, with one another and with themselves."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from analytics.agreement.advice import advice
from analytics.agreement.measures import gwet_ac1, kappa, krippendorff_alpha, percent_agreement, rate_of_answer
from analytics.agreement.pairs import Comparison, comparisons
from analytics.agreement.scores import COLUMNS as SCORE_COLUMNS
from analytics.agreement.scores import score_columns
from analytics.agreement.units import answered
from analytics.statistics.cluster_intervals import NUDGE, PSEUDO, Ends, Pushed, Varied, cluster_sums, coefficient_interval, share_interval
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["COEFFICIENTS", "SUMMARY", "agreement_report", "coefficients_with_intervals"]

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

_SCORED: Final = frozenset({"weighted_kappa", "alpha_ordinal", "alpha_interval"})
_EVEN = 0.2
"""Weight of answers in equal shares in what the added units answer: an answer that nobody gave could have been given."""


def agreement_report(store: Store, *, rubric: str | None = None, na_score: float | None = None) -> pl.DataFrame:
    """One row for every question and two raters who answered about the same units; also for each rubric and all rubrics (`ALL`).

    Columns, in order:

    - rubric, question, kind, rater_a, rater_b: a is the reference. Kinds: judge_people, judge_truth, judge_engine, judge_judge,
      people_truth; and, of raters of one side, people (among themselves) and judge_repeats.
    - units: that both answered (of one side: that at least two answered). games: how many. answers_a, answers_b: given about these units.
      pairs: of answers. unanswered: further units that a answered and b was asked about without giving an answer.
    - agreement: share of pairs that are equal, 0 to 1. kappa: Cohen's (of one side Fleiss's) over all answers, N/A included.
      weighted_kappa: with squared differences of the answers' numbers. alpha_nominal, alpha_ordinal, alpha_interval: Krippendorff's; the
      latter two over answers with a number. ac1: Gwet's, with all answers of the rubric's scale, over these
      units alone (his shares of answers also count units of one rater).
      sensitivity, specificity: of b's yes and no against a's, other answers left out.
      Between two sides each pair of answers is a unit with two ratings. Formulas and sources: `analytics.agreement.measures`. All with
      `_low` and `_high`: 95 % interval over games (`analytics.statistics.cluster_intervals`); null below two games, and where the
      coefficient is. kappa_all_low, kappa_all_high: of kappa, so wide that those of all rows of the kind hold at once in 95 %
      (Bonferroni): what the advice goes by.
    - mean_a to consensus_kappa: `analytics.agreement.scores`.
    - confusion: JSON, a's answer -> b's answer -> pairs (of one side: in both orders). advice: what to make of it, in words.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        na_score: the number of N/A in mean_a to consensus_kappa; None: it has none.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    found = list(comparisons(answered(store, rubric)))
    of_kind = Counter(compared.kind for compared in found)
    rows = [_row(compared, na_score, of_kind[compared.kind]) for compared in found]
    told = advice(rows)
    for row, text in zip(rows, told, strict=True):
        row["advice"] = text
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    texts = ("rubric", "question", "kind", "rater_a", "rater_b")
    counts = ("units", "games", "answers_a", "answers_b", "pairs", "unanswered")
    numbers = [name for stem in COEFFICIENTS for name in (stem, f"{stem}_low", f"{stem}_high")] + ["kappa_all_low", "kappa_all_high"]
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String())
    schema |= dict.fromkeys(counts, pl.Int64()) | dict.fromkeys(numbers, pl.Float64())
    schema |= {name: pl.Int64() if name.endswith("_n") else pl.Float64() for name in SCORE_COLUMNS}
    return schema | {"confusion": pl.String(), "advice": pl.String()}


def _row(compared: Comparison, na_score: float | None, rows: int) -> dict[str, object]:
    tables = compared.tables()
    table = tables.sum(axis=0)
    row: dict[str, object] = {
        "rubric": compared.rubric,
        "question": compared.question,
        "kind": compared.kind,
        "rater_a": compared.rater_a,
        "rater_b": compared.rater_b,
        "units": compared.units,
        "games": int(compared.clusters.max()) + 1,
        "answers_a": int(compared.weights @ compared.counts_a.sum(axis=1)),
        "answers_b": int(compared.weights @ compared.counts_b.sum(axis=1)),
        "pairs": int(table.sum()) // (2 if compared.within else 1),
        "unanswered": compared.unanswered,
    }
    row |= coefficients_with_intervals(compared, rows)
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


def coefficients_with_intervals(compared: Comparison, rows: int = 1) -> dict[str, float | None]:
    """All of `COEFFICIENTS` of one comparison, each with `_low` and `_high`, and kappa_all_low, kappa_all_high; None where not defined.

    Args:
        compared: two raters, or one side.
        rows: comparisons that are read together.
    """
    tables = compared.tables()
    of_units = _Sums(tables, compared.coincidences(), compared.coincidences(scored=True), *compared.unit_agreement())
    games = _Sums(*(cluster_sums(part, compared.clusters) for part in of_units))
    found = _coefficients(compared, _Sums(*(part.sum(axis=0) for part in games)))
    ends = _coefficient_ends(compared, games, found, compared.units, rows) | _share_ends(compared, games.table, compared.units)
    row: dict[str, float | None] = {}
    for name, value in found.items():
        numbers = (value, *ends[name]) if name in ends else (value, math.nan, math.nan)
        defined = [None if math.isnan(float(number)) or math.isnan(float(value)) else float(number) for number in numbers]
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), defined, strict=True))
    for end, number in zip(("low", "high"), ends["kappa_all"], strict=True):
        row[f"kappa_all_{end}"] = None if row["kappa_low"] is None else float(number)
    return row


def _share_ends(compared: Comparison, table: Floats, units: int) -> dict[str, Ends]:
    """Intervals of plain shares; `table`: shape (games, answers, answers)."""
    import numpy as np

    unit = float(table.sum()) / units
    yes, no = _yes_and_no(compared)
    ends = {"agreement": share_interval(np.trace(table, axis1=1, axis2=2), table.sum(axis=(1, 2)), unit=unit)}
    if yes is not None and no is not None:
        for name, answer, other in (("sensitivity", yes, no), ("specificity", no, yes)):
            right = table[:, answer, answer]
            ends[name] = share_interval(right, right + table[:, answer, other], unit=unit)
    return ends


def _coefficient_ends(compared: Comparison, games: _Sums, found: dict[str, Floats], units: int, rows: int) -> dict[str, Ends]:
    """Intervals of what is corrected for chance: all variants of the sums that they need go through the formulas at once."""
    import numpy as np

    kinds = _added(compared, games, units)
    total = [part.sum(axis=0) + PSEUDO * sum(kind[place] for kind in kinds) for place, part in enumerate(games)]
    variants = []
    for place, part in enumerate(games):
        nudges = [sign * NUDGE * PSEUDO * kind[place] for kind in kinds for sign in (-1, 1)]
        variants.append(total[place] + np.concatenate([[0 * total[place]], nudges, -part]))
    values = _coefficients(compared, _Sums(*variants))
    first = 1 + 2 * len(kinds)
    ends = {}
    for name in found.keys() - {"agreement", "sensitivity", "specificity"}:
        pushed = tuple(Pushed(values[name][place], values[name][place + 1]) for place in range(1, first, 2))
        sizes = (games.scored_coincidence if name in _SCORED else games.table).sum(axis=(1, 2))
        varied = Varied(found[name], values[name][0], values[name][first:], pushed, sizes)
        ends[name] = coefficient_interval(varied)
        if name == "kappa":
            ends["kappa_all"] = coefficient_interval(varied, tests=rows)
    return ends


def _added(compared: Comparison, games: _Sums, units: int) -> tuple[_Sums, _Sums]:
    """The sums of a unit on which raters differ, and of one on which they agree, with as many answers as units have, in their shares."""
    import numpy as np

    size = len(compared.answers)
    table = games.table.sum(axis=0)
    shares = (1 - _EVEN) * (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum()) + _EVEN / size
    both, same = np.outer(shares, shares), np.eye(size)
    scored = ~np.isnan(compared.scores)
    weights = [float(part.sum()) / units for part in (games.table, games.coincidence, games.agreeing[:, 1], games.shares)]
    kinds = []
    for pattern, agrees in ((both * (1 - same), 0.0), (both * same, 1.0)):
        pairs = pattern / pattern.sum() if size > 1 else pattern
        inner = pairs[scored][:, scored] * weights[1]
        kinds.append(
            _Sums(pairs * weights[0], pairs * weights[1], inner, weights[2] * np.array([agrees, 1.0]), pairs.sum(axis=0) * weights[3])
        )
    return kinds[0], kinds[1]


def _coefficients(compared: Comparison, sums: _Sums) -> dict[str, Floats]:
    """All coefficients, of one table or of many."""
    import numpy as np

    scored = ~np.isnan(compared.scores)
    values = compared.scores[scored]
    table = sums.table
    numbers = table[..., scored, :][..., :, scored]
    undefined = np.full(table.shape[:-2], np.nan)
    yes, no = _yes_and_no(compared)
    found = {
        "agreement": percent_agreement(table),
        "kappa": kappa(table),
        "weighted_kappa": kappa(numbers, np.subtract.outer(values, values) ** 2) if len(values) else undefined,
        "alpha_nominal": krippendorff_alpha(sums.coincidence, "nominal"),
        "alpha_ordinal": krippendorff_alpha(sums.scored_coincidence, "ordinal") if len(values) else undefined,
        "alpha_interval": krippendorff_alpha(sums.scored_coincidence, "interval", values) if len(values) else undefined,
        "ac1": gwet_ac1(sums.agreeing, sums.shares, compared.scale),
        "sensitivity": undefined,
        "specificity": undefined,
    }
    if yes is not None and no is not None:
        found |= {"sensitivity": rate_of_answer(table, yes, no), "specificity": rate_of_answer(table, no, yes)}
    return found


def _yes_and_no(compared: Comparison) -> tuple[int | None, int | None]:
    """Where the two stand; None inside one side, which has no reference."""
    return (None, None) if compared.within else (_place(compared, "yes", 1.0), _place(compared, "no", 0.0))


def _place(compared: Comparison, answer: str, score: float) -> int | None:
    """Where that answer stands, else the one answer with that score; None if none or several have it."""
    import numpy as np

    if answer in compared.answers:
        return compared.answers.index(answer)
    found = np.flatnonzero(compared.scores == score)
    return int(found[0]) if len(found) == 1 else None
