"""Two raters, or one rater's own repeats, as counts ready for the coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from analytics.agreement.measures import coincidences, cross_pairs, inner_pairs, unit_agreement

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ALL", "Comparison", "comparisons"]

ALL = "ALL"
"""Rubric or question of a comparison that pools all."""

_KINDS = {
    ("people", "truth"): "people_truth",
    ("engine", "truth"): "judge_truth",
    ("judge", "truth"): "judge_truth",
    ("engine", "people"): "judge_people",
    ("judge", "people"): "judge_people",
    ("judge", "engine"): "judge_engine",
    ("judge", "judge"): "judge_judge",
}
"""(role of b, role of a) -> kind of the comparison; a is the reference."""
_ORDER = ("truth", "people", "engine", "judge")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The answers of side a and side b about the units that both answered; of one side, where its raters are compared with one another."""

    rubric: str
    question: str
    kind: str
    rater_a: str
    rater_b: str
    answers: tuple[str, ...]
    """By ascending score, answers without one last."""
    scores: Floats
    """Of each answer; NaN: none."""
    counts_a: Floats
    """How often each answer was given: shape (rows, answers). Units of a game with the same counts on both sides stand in one row."""
    counts_b: Floats
    """The same; equal to `counts_a` inside one side."""
    clusters: NDArray[np.int64]
    """The game of each row, from 0 without gaps."""
    weights: Floats
    """The units of each row."""
    unanswered: int
    """Units that a answered and b was asked about without giving an answer."""

    @property
    def within(self) -> bool:
        """Whether raters of one side are compared."""
        return self.rater_a == self.rater_b

    @property
    def units(self) -> int:
        """How many were compared."""
        return int(self.weights.sum())

    def tables(self) -> Floats:
        """Pairs of the units of each row: shape (rows, answers, answers)."""
        return self._tables

    @cached_property
    def _tables(self) -> Floats:
        pairs = inner_pairs(self.counts_a) if self.within else cross_pairs(self.counts_a, self.counts_b)
        return pairs * self.weights[:, None, None]

    def coincidences(self, *, scored: bool = False) -> Floats:
        """For alpha: of one side as Krippendorff has it; between sides each pair is a unit with two ratings.

        Args:
            scored: only answers with a number; ratings without one are then missing.
        """
        import numpy as np

        kept = ~np.isnan(self.scores) if scored else np.ones(len(self.scores), dtype=bool)
        if self.within:
            return coincidences(self.counts_a[:, kept]) * self.weights[:, None, None]
        tables = self._tables[:, kept][:, :, kept]
        both: Floats = tables + np.swapaxes(tables, 1, 2)
        return both

    def unit_agreement(self) -> tuple[Floats, Floats]:
        """For AC1: of one side as Gwet has it; between sides each pair is a unit with two ratings."""
        import numpy as np

        if self.within:
            agreeing, shares = unit_agreement(self.counts_a)
            return agreeing * self.weights[:, None], shares * self.weights[:, None]
        tables = self.tables()
        agreeing = np.column_stack([np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))])
        return agreeing, (tables.sum(axis=1) + tables.sum(axis=2)) / 2


class _Matched(NamedTuple):
    """Two raters, or one twice, about the units of a question."""

    first: tuple[str, str]
    """Role and rater."""
    second: tuple[str, str]
    rows: pl.DataFrame
    """Units that both answered: game, `a yes` and so on, `b yes` and so on, and in `units` how many there are like that."""
    unanswered: int


class _Asked(NamedTuple):
    """A question."""

    rubric: str
    question: str
    scores: pl.DataFrame
    """Of each role and rater the answers that were given, with their scores."""
    matched: Sequence[_Matched]


def comparisons(answers: pl.DataFrame, counted: pl.DataFrame) -> Iterator[Comparison]:
    """Every comparison that the answers allow: each question, each rubric as a whole, and all of them.

    Args:
        answers: as `analytics.agreement.answers.numbered_answers` gives them.
        counted: likewise; they say which answers there are, and nothing is compared with them.
    """
    import polars as pl

    all_answers = pl.concat(
        [answers, counted.select("rubric", "question", "role", "rater", "answer", unit=None, game=None, score="score")],
        how="vertical_relaxed",
    )
    parts = all_answers.partition_by("rubric", "question", as_dict=True, include_key=False)
    asked = [_asked(part, str(rubric), str(question)) for (rubric, question), part in sorted(parts.items())]
    for one in asked:
        yield from _compared([one], one.rubric, one.question)
    rubrics = list(dict.fromkeys(one.rubric for one in asked))
    for rubric in rubrics:
        own = [one for one in asked if one.rubric == rubric]
        yield from _compared(_of_several(own, "question"), rubric, ALL)
    yield from _compared(_of_several(asked, "rubric"), ALL, ALL)


def _of_several(asked: Sequence[_Asked], what: str) -> list[_Asked]:
    """The answers of raters who answered about more than one of them: of others there is nothing to pool."""
    seen: dict[tuple[str, str], set[str]] = {}
    for one in asked:
        for rater in one.scores.select("role", "rater").unique().rows():
            seen.setdefault(rater, set()).add(getattr(one, what))
    kept = {rater for rater, about in seen.items() if len(about) > 1}
    return [
        one._replace(
            scores=one.scores.filter([rater in kept for rater in one.scores.select("role", "rater").rows()]),
            matched=[pair for pair in one.matched if pair.first in kept and pair.second in kept],
        )
        for one in asked
    ]


def _asked(part: pl.DataFrame, rubric: str, question: str) -> _Asked:
    """The pairs of raters of a question."""
    import polars as pl

    scores = (
        part.group_by("role", "rater", "answer").agg(pl.col("score").max()).with_columns(pl.col("role", "rater", "answer").cast(pl.String))
    )
    names = scores["answer"].drop_nulls().unique().sort().to_list()
    raters = scores.select("role", "rater").unique().rows()
    raters.sort(key=lambda rater: (_ORDER.index(rater[0]), rater[1]))
    compared = part.drop_nulls("unit")
    sides = {rater: _counts(compared.filter(pl.col("rater") == rater[1]), names) for rater in raters}
    matched = [
        _matched(sides, first, second)
        for index, first in enumerate(raters)
        for second in raters[index:]
        if _kind(first, second) is not None
    ]
    return _Asked(rubric, question, scores, matched)


def _kind(first: tuple[str, str], second: tuple[str, str]) -> str | None:
    if first == second:
        return {"people": "people", "judge": "judge_repeats"}.get(first[0])
    return _KINDS.get((second[0], first[0]))


def _counts(part: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """One row a unit: unit, game, and how often each answer was given."""
    import polars as pl

    given = part.select("unit", "game", *((pl.col("answer") == name).fill_null(value=False).cast(pl.UInt32).alias(name) for name in names))
    return given.group_by("unit", "game").agg(pl.col(*names).sum()) if names else given.unique()


def _matched(sides: dict[tuple[str, str], pl.DataFrame], first: tuple[str, str], second: tuple[str, str]) -> _Matched:
    """What both said about the units that both answered; inside one side, about those that at least two answered."""
    import polars as pl

    names = sides[first].columns[2:]
    a, b = (sides[rater].rename({name: f"{side} {name}" for name in names}) for side, rater in (("a", first), ("b", second)))
    both = a.join(b.drop("game"), on="unit", how="inner").drop("unit")
    of_a, of_b = (pl.sum_horizontal(pl.lit(0), *(f"{side} {name}" for name in names)) for side in "ab")
    is_usable = of_a > 1 if first == second else (of_a > 0) & (of_b > 0)
    unanswered = 0 if first == second else both.select(((of_a > 0) & (of_b == 0)).sum()).item()
    return _Matched(first, second, both.filter(is_usable).group_by(both.columns).agg(units=pl.len()), int(unanswered))


def _compared(asked: Sequence[_Asked], rubric: str, question: str) -> Iterator[Comparison]:
    """The pairs of raters, over all of these questions."""
    import numpy as np
    import polars as pl

    if not asked:
        return
    scored = pl.concat([one.scores for one in asked]).drop_nulls("answer").group_by("answer").agg(pl.col("score").max())
    scored = scored.sort("score", "answer", nulls_last=True)
    names: tuple[str, ...] = tuple(scored["answer"])
    scores = scored["score"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    pairs: dict[tuple[tuple[str, str], tuple[str, str]], list[_Matched]] = {}
    for pair in (pair for one in asked for pair in one.matched):
        pairs.setdefault((pair.first, pair.second), []).append(pair)
    order = sorted(pairs, key=lambda pair: [(_ORDER.index(role), rater) for role, rater in pair])
    for first, second in order:
        found = pairs[first, second]
        rows = pl.concat([pair.rows for pair in found], how="diagonal_relaxed")
        if rows.is_empty():
            continue
        rows = rows.with_columns(
            pl.lit(0).alias(column) for name in names for column in (f"a {name}", f"b {name}") if column not in rows.columns
        )
        columns = [f"{side} {name}" for side in "ab" for name in names]
        rows = rows.fill_null(0).group_by("game", *columns).agg(pl.col("units").sum()).sort("game", *columns)
        a, b = (rows.select([f"{side} {name}" for name in names]).to_numpy().astype(float) for side in "ab")
        yield Comparison(
            rubric=rubric,
            question=question,
            kind=str(_kind(first, second)),
            rater_a=first[1],
            rater_b=second[1],
            answers=names,
            scores=scores,
            counts_a=a,
            counts_b=b,
            clusters=rows["game"].rank("dense").to_numpy().astype(np.int64) - 1,
            weights=rows["units"].to_numpy().astype(float),
            unanswered=sum(pair.unanswered for pair in found),
        )
