"""The report `agreement`: how far judges agree with people, planted truth, the engine, one another and themselves, with advice.

The bounds are conventions: below 0.2 a kappa is slight and above 0.6 substantial (Landis and Koch 1977, Biometrics 33); an alpha below
0.667 is too low even for tentative conclusions (Krippendorff, Content Analysis, 4th ed. 2019, chapter 12).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import polars as pl

from analytics.agreement.pairs import (
    Comparison,
    comparisons,
    gwet_ac1,
    kappa,
    krippendorff_alpha,
    percent_agreement,
    rate_of_answer,
    score_columns,
)
from analytics.agreement.units import answered
from analytics.report_columns import framed
from analytics.statistics.intervals import NUDGE, PSEUDO, Ends, Floats, Pushed, Varied, cluster_sums, coefficient_interval, share_interval
from schemas.store.store import Store

_SLIGHT, _SUBSTANTIAL, _LOW, _TENTATIVE = 0.2, 0.6, 0.4, 0.667
_FEW_UNITS = 15
_ONE_SIDED = 0.95
"""Share of one answer above which a coefficient corrected for chance means little."""
_HARDLY_CHANGED = 0.9

Row = Mapping[str, Any]
_SIDES = {"people": "people", "planted truth": "the planted truth", "engine": "the engine"}


def advice(rows: Sequence[Row]) -> list[str]:
    """A sentence for each row of the report, in the same order.

    A sentence about kappa uses kappa_all_low and kappa_all_high: with many rows, some would else be praised by chance alone.
    """
    people = {(row["rubric"], row["question"]): row for row in rows if row["kind"] == "people"}
    of_kind = Counter(row["kind"] for row in rows)
    texts = (_parts({**row, "rows": of_kind[row["kind"]]}, people.get((row["rubric"], row["question"]))) for row in rows)
    return [f"{row['question']}: {'; '.join(parts)}" for row, parts in zip(rows, texts, strict=True)]


def _parts(row: Row, people: Row | None) -> Iterator[str]:
    if row["units"] < _FEW_UNITS:
        yield f"only {row['units']} unit{'s' * (row['units'] != 1)}: too few for a conclusion about {_side(row['rater_b'])}"
    elif row["kind"] == "people":
        yield from _about_people(row)
    elif row["kind"] == "judge_repeats":
        yield from _about_repeats(row)
    else:
        yield from _about_two(row, people)


def _about_people(row: Row) -> Iterator[str]:
    alpha = row["alpha_nominal"]
    yield f"people among themselves give the same answer in {_percent(row['agreement'])}"
    if alpha is None:
        yield "they never differ, so nothing more is known"
    elif _LOW <= alpha < _TENTATIVE:
        yield f"too little to lean on (alpha {alpha:.2f}): make the question plainer, or take several people's mean"
    elif alpha < _LOW:
        yield f"that is little beyond chance (alpha {alpha:.2f}): make the question plainer before you compare a judge with it"
    else:
        yield f"alpha {alpha:.2f}: they can serve as a reference"


def _about_repeats(row: Row) -> Iterator[str]:
    yield f"asked again, the judge gives the same answer in {_percent(row['agreement'])}"
    if row["agreement"] < _HARDLY_CHANGED:
        yield "its answers are partly noise: ask several times and take the mean"
    else:
        yield "it is steady, which does not show that it is right"


def _about_two(row: Row, people: Row | None) -> Iterator[str]:
    judge, reference = _side(row["rater_b"]), _side(row["rater_a"])
    given, shares = _margins(row)
    always = next(iter(given)) if len(given) == 1 else None
    if always is not None:
        yield from _about_constant(judge, reference, always, shares)
        return
    yield from _about_kappa(row, judge, reference, shares)
    if people is not None and people["alpha_nominal"] is not None and people["alpha_nominal"] < _TENTATIVE and row["rater_a"] == "people":
        yield f"people differ among themselves too (alpha {people['alpha_nominal']:.2f})"
    if row["unanswered"]:
        units = "1 further unit" if row["unanswered"] == 1 else f"{row['unanswered']} further units"
        yield f"{judge} left {units} without an answer"


def _about_constant(judge: str, reference: str, always: str, shares: Mapping[str, float]) -> Iterator[str]:
    yield f"{judge} always answers {_word(always)}"
    share = shares.get(always, 0.0)
    other = max((answer for answer in shares if answer != always), key=lambda answer: shares[answer], default=None)
    if other is None:
        yield f"so {'do' if reference == 'people' else 'does'} {reference}: no case with another answer, so nothing is shown; label some"
    elif share >= _ONE_SIDED:
        agrees = "agree" if reference == "people" else "agrees"
        yield f"{reference} {agrees} in {_percent(share)}: it may be right, but nothing shows that it would notice an exception"
    else:
        yield f"{reference} {_verb(reference)} {_word(other)} in {_percent(shares[other])}: do not use"


def _about_kappa(row: Row, judge: str, reference: str, shares: Mapping[str, float]) -> Iterator[str]:
    kappa, low, high = row["kappa"], row["kappa_low"], row["kappa_high"]
    interval = f"kappa {kappa:.2f}" if low is None else f"kappa {kappa:.2f}, {low:.2f} to {high:.2f}"
    yield f"{judge} and {reference} give the same answer in {_percent(row['agreement'])} ({interval})"
    commonest = max(shares, key=lambda answer: shares[answer])
    alone = low
    low, high = (kappa, kappa) if low is None else (row["kappa_all_low"], row["kappa_all_high"])
    if shares[commonest] > _ONE_SIDED:
        one_sided = f"{reference} {_verb(reference)} {_word(commonest)} in {_percent(shares[commonest])}"
        yield f"{one_sided}, so kappa means little: look at both error rates"
    elif high < _SLIGHT:
        yield "hardly better than chance: do not use"
    elif low <= 0 and alone is not None and alone > 0:
        yield f"beyond chance if this were the only row, but it is one of {row['rows']}: label more before you lean on it"
    elif low <= 0:
        yield "chance alone could give that: do not use before more labels show otherwise"
    elif low > _SUBSTANTIAL:
        yield "good: use it, with corrected rates where a number matters"
    elif kappa > _SUBSTANTIAL:
        yield "probably good: more labels would settle it; correct the rates"
    else:
        yield "weak: use it only with corrected rates"
    yield from _about_errors(row, judge)


def _about_errors(row: Row, judge: str) -> Iterator[str]:
    finds, clears = row["sensitivity"], row["specificity"]
    if finds is not None and clears is not None and finds + clears <= 1:
        yield f"{judge} answers Yes no more often where it should than where it should not ({_percent(finds)} and {_percent(1 - clears)})"


def _margins(row: Row) -> tuple[dict[str, float], dict[str, float]]:
    """Shares of each answer: of side b, and of side a."""
    confusion: dict[str, dict[str, int]] = orjson.loads(row["confusion"])
    shares = {answer: float(sum(counts.values())) for answer, counts in confusion.items()}
    given: dict[str, float] = {}
    for counts in confusion.values():
        for answer, count in counts.items():
            given[answer] = given.get(answer, 0.0) + count
    total = sum(shares.values())
    return {answer: n / total for answer, n in given.items()}, {answer: n / total for answer, n in shares.items()}


def _side(rater: str) -> str:
    return _SIDES.get(rater) or f"the judge {rater}"


def _verb(side: str) -> str:
    return "answer" if side == "people" else "answers"


def _word(answer: str) -> str:
    return "N/A" if answer == "na" else answer.capitalize()


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


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

_SCORED: Final = frozenset({"weighted_kappa", "alpha_ordinal", "alpha_interval"})
_EVEN = 0.2
"""Weight of answers in equal shares in what the added units answer: an answer that no rater gave could have been given."""


def agreement_report(store: Store, *, rubric: str | None = None, na_score: float | None = None) -> pl.DataFrame:
    """One row for every question and two raters who answered about the same units; also for each rubric and all rubrics (`ALL`).

    Columns: `report_columns.csv`.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        na_score: the number of N/A in mean_a to consensus_kappa; None: it has none.

    Raises:
        StoreError: the store cannot be read.
    """
    found = list(comparisons(answered(store, rubric)))
    of_kind = Counter(compared.kind for compared in found)
    rows = [_row(compared, na_score, of_kind[compared.kind]) for compared in found]
    texts = advice(rows)
    for row, text in zip(rows, texts, strict=True):
        row["advice"] = text
    return framed("agreement", rows)


def _row(compared: Comparison, na_score: float | None, rows: int) -> dict[str, object]:
    table = np.tensordot(compared.games[compared.clusters], compared.tables, axes=1)
    row: dict[str, object] = {
        "rubric": compared.rubric,
        "question": compared.question,
        "kind": compared.kind,
        "rater_a": compared.rater_a,
        "rater_b": compared.rater_b,
        "units": compared.units,
        "games": int(compared.games.sum()),
        "answers_a": int(compared.all_units @ compared.counts_a.sum(axis=1)),
        "answers_b": int(compared.all_units @ compared.counts_b.sum(axis=1)),
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
    tables = compared.tables
    of_units = _Sums(tables, compared.coincidences(), compared.coincidences(scored=True), *compared.unit_agreement())
    games = _Sums(*(cluster_sums(part, compared.clusters) for part in of_units))
    found = _coefficients(compared, _total(games, compared.games))
    ends = _coefficient_ends(compared, games, found, compared.units, rows) | _share_ends(compared, games.table, compared.units)
    row: dict[str, float | None] = {}
    for name, value in found.items():
        numbers = (value, *ends[name]) if name in ends else (value, math.nan, math.nan)
        defined = [None if math.isnan(float(number)) or math.isnan(float(value)) else float(number) for number in numbers]
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), defined, strict=True))
    for end, number in zip(("low", "high"), ends["kappa_all"], strict=True):
        row[f"kappa_all_{end}"] = None if row["kappa_low"] is None else float(number)
    return row


def _total(games: _Sums, alike: Floats) -> _Sums:
    return _Sums(*(np.tensordot(alike, part, axes=1) for part in games))


def _share_ends(compared: Comparison, table: Floats, units: int) -> dict[str, Ends]:
    """Intervals of plain shares; `table`: shape (games, answers, answers)."""
    alike = compared.games
    unit = float(alike @ table.sum(axis=(1, 2))) / units
    yes, no = _yes_and_no(compared)
    ends = {"agreement": share_interval(np.trace(table, axis1=1, axis2=2), table.sum(axis=(1, 2)), unit=unit, alike=alike)}
    if yes is not None and no is not None:
        for name, answer, other in (("sensitivity", yes, no), ("specificity", no, yes)):
            right = table[:, answer, answer]
            ends[name] = share_interval(right, right + table[:, answer, other], unit=unit, alike=alike)
    return ends


def _coefficient_ends(compared: Comparison, games: _Sums, found: dict[str, Floats], units: int, rows: int) -> dict[str, Ends]:
    """Intervals of what is corrected for chance: all variants of the sums that they need go through the formulas at once."""
    raw = _total(games, compared.games)
    kinds = _added(compared, raw, units)
    total = [part + PSEUDO * sum(kind[place] for kind in kinds) for place, part in enumerate(raw)]
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
        varied = Varied(found[name], values[name][0], values[name][first:], pushed, sizes, compared.games)
        ends[name] = coefficient_interval(varied)
        if name == "kappa":
            ends["kappa_all"] = coefficient_interval(varied, tests=rows)
    return ends


def _added(compared: Comparison, total: _Sums, units: int) -> tuple[_Sums, _Sums]:
    """The sums of a unit on which raters differ, and of one on which they agree, with as many answers as units have, in their shares."""
    size = len(compared.answers)
    table = total.table
    shares = (1 - _EVEN) * (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum()) + _EVEN / size
    both, same = np.outer(shares, shares), np.eye(size)
    scored = ~np.isnan(compared.scores)
    weights = [float(part.sum()) / units for part in (table, total.coincidence, total.agreeing[1], total.shares)]
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
    """The place of that answer, else the one answer with that score; None if none or several have it."""
    if answer in compared.answers:
        return compared.answers.index(answer)
    found = np.flatnonzero(compared.scores == score)
    return int(found[0]) if len(found) == 1 else None
