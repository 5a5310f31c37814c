"""Two raters, or one rater's own repeats, as counts ready for the coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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
    """Shape (units, answers)."""
    counts_b: Floats
    """The same; equal to `counts_a` inside one side."""
    clusters: NDArray[np.int64]
    """The game of each unit, from 0 without gaps."""
    unanswered: int
    """Units that a answered and b was asked about without giving an answer."""

    @property
    def within(self) -> bool:
        """Whether raters of one side are compared."""
        return self.rater_a == self.rater_b

    def tables(self) -> Floats:
        """Pairs of each unit: shape (units, answers, answers)."""
        return self._tables

    @cached_property
    def _tables(self) -> Floats:
        return inner_pairs(self.counts_a) if self.within else cross_pairs(self.counts_a, self.counts_b)

    def coincidences(self, *, scored: bool = False) -> Floats:
        """For alpha: of one side as Krippendorff has it; between sides each pair is a unit with two ratings.

        Args:
            scored: only answers with a number; ratings without one are then missing.
        """
        import numpy as np

        kept = ~np.isnan(self.scores) if scored else np.ones(len(self.scores), dtype=bool)
        if self.within:
            return coincidences(self.counts_a[:, kept])
        tables = cross_pairs(self.counts_a[:, kept], self.counts_b[:, kept])
        both: Floats = tables + np.swapaxes(tables, 1, 2)
        return both

    def unit_agreement(self) -> tuple[Floats, Floats]:
        """For AC1: of one side as Gwet has it; between sides each pair is a unit with two ratings."""
        import numpy as np

        if self.within:
            return unit_agreement(self.counts_a)
        tables = self.tables()
        agreeing = np.column_stack([np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))])
        return agreeing, (tables.sum(axis=1) + tables.sum(axis=2)) / 2


def comparisons(answers: pl.DataFrame) -> Iterator[Comparison]:
    """Every comparison that the answers allow: each question, each rubric as a whole, and all of them.

    Args:
        answers: as `analytics.agreement.answers.answers` gives them.
    """
    import polars as pl

    # Numbers in the order of the names: games and units are grouped, joined and sorted many times.
    numbered = answers.with_columns(pl.col("unit", "game").rank("dense").cast(pl.Int64))
    for (rubric, question), part in numbered.group_by("rubric", "question", maintain_order=True):
        yield from _of_question(part, str(rubric), str(question))
    asked = numbered.select("rubric", "question").unique().sort("rubric", "question").with_row_index("asked")
    pooled = numbered.join(asked, on=["rubric", "question"], how="left", maintain_order="left").with_columns(
        unit=pl.col("asked").cast(pl.Int64) * (pl.col("unit").max() + 1) + pl.col("unit")
    )
    for (rubric,), part in pooled.group_by("rubric", maintain_order=True):
        yield from _of_question(_with_several(part, "question"), str(rubric), ALL)
    yield from _of_question(_with_several(pooled, "rubric"), ALL, ALL)


def _with_several(part: pl.DataFrame, column: str) -> pl.DataFrame:
    """The answers of raters who answered about more than one of them: of others there is nothing to pool."""
    import polars as pl

    return part.filter(pl.col(column).n_unique().over("role", "rater") > 1)


def _of_question(part: pl.DataFrame, rubric: str, question: str) -> Iterator[Comparison]:
    import numpy as np
    import polars as pl

    scored = part.drop_nulls("answer").group_by("answer").agg(pl.col("score").max()).sort("score", "answer", nulls_last=True)
    if scored.is_empty():
        return
    names: tuple[str, ...] = tuple(scored["answer"])
    scores = scored["score"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    raters = part.select("role", "rater").unique().rows()
    raters.sort(key=lambda rater: (_ORDER.index(rater[0]), rater[1]))
    sides = {rater: _counts(part.filter(pl.col("rater") == rater[1]), names) for rater in raters}
    for index, first in enumerate(raters):
        for second in raters[index:]:
            kind = _KINDS.get((second[0], first[0])) if first != second else _inner_kind(first[0])
            if kind is not None:
                matched = _matched(sides[first], sides[second], within=first == second)
                if matched is not None:
                    a, b, clusters, unanswered = matched
                    yield Comparison(
                        rubric=rubric,
                        question=question,
                        kind=kind,
                        rater_a=first[1],
                        rater_b=second[1],
                        answers=names,
                        scores=scores,
                        counts_a=a,
                        counts_b=b,
                        clusters=clusters,
                        unanswered=unanswered,
                    )


def _inner_kind(role: str) -> str | None:
    return {"people": "people", "judge": "judge_repeats"}.get(role)


def _counts(part: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """One row a unit: unit, game, and in `n0`, `n1`, ... how often each answer was given."""
    import polars as pl

    columns = [pl.col("n").filter(pl.col("answer") == name).sum().cast(pl.Float64).alias(f"n{index}") for index, name in enumerate(names)]
    return part.group_by("unit", "game").agg(columns).sort("unit")


def _matched(first: pl.DataFrame, second: pl.DataFrame, *, within: bool) -> tuple[Floats, Floats, NDArray[np.int64], int] | None:
    """Counts of both sides about the units that both answered (inside one side: that at least two answered), games, and units left open.

    None if there are no such units.
    """
    import numpy as np

    both = first.join(second, on="unit", how="inner", maintain_order="left")
    if both.is_empty():
        return None
    names = [name for name in first.columns if name not in {"unit", "game"}]
    a, b = (both.select([f"{name}{suffix}" for name in names]).to_numpy() for suffix in ("", "_right"))
    asked = a.sum(axis=1) > 0
    usable = a.sum(axis=1) > 1 if within else asked & (b.sum(axis=1) > 0)
    if not usable.any():
        return None
    games = both["game"].filter(usable)
    clusters = games.rank("dense").to_numpy().astype(np.int64) - 1
    return a[usable], b[usable], clusters, 0 if within else int((asked & ~usable).sum())
