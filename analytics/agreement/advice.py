"""What to make of the numbers, in words: one sentence for a comparison, and what to do.

The bounds are conventions, written here once: below 0.2 a kappa is slight and above 0.6 substantial (Landis and Koch 1977, Biometrics
33); an alpha below 0.667 is too low even for tentative conclusions (Krippendorff, Content Analysis, 4th ed. 2019, chapter 12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

__all__ = ["advice"]

_SLIGHT, _SUBSTANTIAL, _LOW, _TENTATIVE = 0.2, 0.6, 0.4, 0.667
_FEW_UNITS = 15
_ONE_SIDED = 0.95
"""Share of one answer above which a coefficient corrected for chance says little."""
_HARDLY_CHANGED = 0.9

Row = Mapping[str, Any]
_SIDES = {"people": "people", "planted truth": "the planted truth", "engine": "the engine"}


def advice(rows: Sequence[Row]) -> list[str]:
    """A sentence for each row of the report, in the same order.

    What a sentence says of kappa it says by kappa_all_low and kappa_all_high: with many rows, some would else be praised by chance alone.
    """
    people = {(row["rubric"], row["question"]): row for row in rows if row["kind"] == "people"}
    of_kind = Counter(row["kind"] for row in rows)
    told = (_parts({**row, "rows": of_kind[row["kind"]]}, people.get((row["rubric"], row["question"]))) for row in rows)
    return [f"{row['question']}: {'; '.join(parts)}" for row, parts in zip(rows, told, strict=True)]


def _parts(row: Row, people: Row | None) -> Iterator[str]:
    if row["kind"] == "people":
        yield from _about_people(row)
    elif row["kind"] == "judge_repeats":
        yield from _about_repeats(row)
    else:
        yield from _about_two(row, people)


def _about_people(row: Row) -> Iterator[str]:
    alpha = row["alpha_nominal"]
    yield f"people among themselves give the same answer in {_percent(row['agreement'])}"
    if alpha is None:
        yield "they never differ, so nothing is known beyond that"
    elif _LOW <= alpha < _TENTATIVE:
        yield f"too little to lean on (alpha {alpha:.2f}): make the question plainer, or take several people's mean"
    elif alpha < _LOW:
        yield f"that is little beyond chance (alpha {alpha:.2f}): make the question plainer before any judge is held against it"
    else:
        yield f"alpha {alpha:.2f}: they can serve as a reference"


def _about_repeats(row: Row) -> Iterator[str]:
    yield f"asked again, the judge gives the same answer in {_percent(row['agreement'])}"
    if row["agreement"] < _HARDLY_CHANGED:
        yield "its answers are partly noise: ask several times and take the mean"
    else:
        yield "it is steady, which says nothing about being right"


def _about_two(row: Row, people: Row | None) -> Iterator[str]:
    judge, reference = _side(row["rater_b"]), _side(row["rater_a"])
    given, said = _margins(row)
    always = next(iter(given)) if len(given) == 1 else None
    if always is not None:
        yield from _about_constant(judge, reference, always, said)
        return
    if row["units"] < _FEW_UNITS:
        yield f"only {row['units']} units: too few to say anything about {judge}"
        return
    yield from _about_kappa(row, judge, reference, said)
    if people is not None and people["alpha_nominal"] is not None and people["alpha_nominal"] < _TENTATIVE and row["rater_a"] == "people":
        yield f"people differ among themselves too (alpha {people['alpha_nominal']:.2f})"
    if row["unanswered"]:
        units = "1 further unit" if row["unanswered"] == 1 else f"{row['unanswered']} further units"
        yield f"{judge} left {units} without an answer"


def _about_constant(judge: str, reference: str, always: str, said: Mapping[str, float]) -> Iterator[str]:
    yield f"{judge} always says {_word(always)}"
    share = said.get(always, 0.0)
    other = max((answer for answer in said if answer != always), key=lambda answer: said[answer], default=None)
    if other is None:
        yield f"so {'do' if reference == 'people' else 'does'} {reference}: no case with another answer, so nothing is shown; label some"
    elif share >= _ONE_SIDED:
        yield f"{reference} says so in {_percent(share)}: it may be right, but nothing shows that it would notice another case"
    else:
        yield f"{reference} {_says(reference)} {_word(other)} in {_percent(said[other])}: do not use"


def _about_kappa(row: Row, judge: str, reference: str, said: Mapping[str, float]) -> Iterator[str]:
    kappa, low, high = row["kappa"], row["kappa_low"], row["kappa_high"]
    interval = f"kappa {kappa:.2f}" if low is None else f"kappa {kappa:.2f}, {low:.2f} to {high:.2f}"
    yield f"{judge} and {reference} give the same answer in {_percent(row['agreement'])} ({interval})"
    commonest = max(said, key=lambda answer: said[answer])
    alone = low
    low, high = (kappa, kappa) if low is None else (row["kappa_all_low"], row["kappa_all_high"])
    if said[commonest] > _ONE_SIDED:
        one_sided = f"{reference} {_says(reference)} {_word(commonest)} in {_percent(said[commonest])}"
        yield f"{one_sided}, so kappa says little: look at both error rates"
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
        yield f"{judge} says Yes no more often where it should than where it should not ({_percent(finds)} and {_percent(1 - clears)})"


def _margins(row: Row) -> tuple[dict[str, float], dict[str, float]]:
    """Shares of each answer: of side b, and of side a."""
    confusion: dict[str, dict[str, int]] = orjson.loads(row["confusion"])
    said = {answer: float(sum(counts.values())) for answer, counts in confusion.items()}
    given: dict[str, float] = {}
    for counts in confusion.values():
        for answer, count in counts.items():
            given[answer] = given.get(answer, 0.0) + count
    total = sum(said.values())
    return {answer: n / total for answer, n in given.items()}, {answer: n / total for answer, n in said.items()}


def _side(rater: str) -> str:
    return _SIDES.get(rater) or f"the judge {rater}"


def _says(side: str) -> str:
    return "say" if side == "people" else "says"


def _word(answer: str) -> str:
    return "N/A" if answer == "na" else answer.capitalize()


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
