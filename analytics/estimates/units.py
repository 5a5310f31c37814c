"""The units that a judge was asked about, each with its answer, its label, and the chance with which it came to have one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from analytics.agreement.answers import BY_DISAGREEMENT, GIVEN, numbers_of_answers
from analytics.query import condition, query
from schemas.store.store import Store

ANSWERS_BY: Final = {"turn": "place", "length": "long", "score": "reached", "agent": "agent", "task": "task"}
"""On what it can depend whether a judge answers -> column of `asked_units`."""
_STRATA: Final = 3
_QUESTIONS: Final = """
SELECT rubric, question, count(*) AS verdicts FROM verdicts WHERE $rubric IS NULL OR rubric = $rubric GROUP BY ALL ORDER BY ALL
"""
_VERDICTS_AT_ONCE: Final = 2_000_000
"""More take gigabytes of memory: then each question is read by itself."""
_UNITS: Final = f"""
{GIVEN},

numbers AS (SELECT unnest($rubrics) AS rubric, unnest($answers) AS answer, unnest($numbers) AS number),

-- a label file knows yes and no, the rubric their numbers (of some the failure is the yes): what verdicts say of an answer goes first
known AS (SELECT rubric, question, answer, any_value(score) AS known_score FROM judged WHERE answer IS NOT NULL GROUP BY ALL),

scored AS (
    SELECT given.* EXCLUDE (score), CASE
        WHEN numbers.answer IS NOT NULL THEN number WHEN known.answer IS NOT NULL THEN known_score ELSE score
    END AS score
    FROM given
    LEFT JOIN numbers USING (rubric, answer)
    LEFT JOIN known USING (rubric, question, answer)
),

asked AS (
    SELECT rubric, question, rater AS judge, unit, any_value(game) AS episode_id, any_value(turn) AS turn, any_value(agent) AS agent,
        avg(score) AS score, coalesce(stddev_pop(score), 0) AS unsteady, bool_or(answer IS NOT NULL) AS is_answered,
        avg(CASE WHEN score IN (0, 1) THEN probability * score + (1 - probability) * (1 - score) END) AS p_yes
    FROM scored WHERE role IN ('engine', 'judge') GROUP BY ALL
),

of_people AS (
    SELECT rubric, question, unit, role, avg(score) AS label, count(*) AS labels, 2 * var_samp(score) AS differ, max(probability) AS drawn,
        bool_or(is_sample) AS is_sample, list(struct_pack(rater := member, given := score) ORDER BY member) AS people
    FROM scored WHERE role IN ('people', 'truth') AND score IS NOT NULL GROUP BY ALL
)

SELECT asked.*, hash(asked.episode_id) AS game, episodes.model, episodes.task_id AS task,
    role, label, labels, differ, drawn, is_sample, people,
    CASE WHEN spoken.length IS NOT NULL THEN percent_rank() OVER (PARTITION BY rubric, question ORDER BY spoken.length) END AS long,
    turn / max(turn) OVER (PARTITION BY rubric, question) AS place,
    (games.score - min(games.score) OVER of_benchmark)
        / nullif(max(games.score) OVER of_benchmark - min(games.score) OVER of_benchmark, 0) AS reached
FROM asked
LEFT JOIN of_people USING (rubric, question, unit)
LEFT JOIN episodes USING (episode_id)
LEFT JOIN games USING (episode_id)
LEFT JOIN (
    SELECT episode_id, turn, agent, sum(length(text)) AS length FROM utterances SEMI JOIN asked USING (episode_id) GROUP BY ALL
) AS spoken USING (episode_id, turn, agent)
WHERE asked.score IS NOT NULL OR NOT is_answered
WINDOW of_benchmark AS (PARTITION BY rubric, question, games.benchmark)
ORDER BY rubric, question, judge, model NULLS LAST, game, unit
"""
NEGLIGIBLE: Final = 0.02
"""Share of the units without an answer of the judge up to which a rate of the others is used for all: it is off by so much at most."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """All units that one judge was asked one question about."""

    rubric: str
    question: str
    judge: str
    reference: str
    """Whose labels correct: people, where there are any, else planted truth."""
    units: pl.DataFrame
    """Rows of `asked_units`."""

    def with_units(self, units: pl.DataFrame) -> Asked:
        """The same question and judge about other units."""
        return replace(self, units=units)


def asked_units(store: Store, rubric: str | None = None, families: str | None = None) -> Iterator[Asked]:
    """Of each question and judge, by name, the units, one a row; those that the judge answered with N/A are left out.

    Columns: rubric, question, judge, unit, episode_id, turn, agent; game: hash of episode_id; model, task: null for games outside the
    store; score: mean number of the judge's answers, 0 to 1, null without one; unsteady: their standard deviation over repeats;
    is_answered; p_yes: probability of yes by the answers' tokens, null where the server gave none; label: mean number of the labels, null
    without one; labels: how many; differ: share of pairs of labels that differ (of numbers, their mean squared difference), null below two;
    drawn: chance with which the unit was drawn to be labelled, null if that was not recorded; is_sample: whether it is known that it was
    drawn, by a recorded chance or in the random order of the page Labelling; people: who labelled it, and with what
    number; place: turn over the question's last turn of all; reached: the game's score, 0 to 1 over the question's games of its benchmark;
    long: rank of the length of the agent's messages on the turn among the question's units, 0 to 1.

    Labels drawn because raters disagree are left out. Where some labels have a recorded chance, only these count, else where some are in
    random order, these: of the others it is not known how they relate to them.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        families: SQL expression over `episodes`: its values stand in the place of games and tasks, as clusters; None: games and tasks do.

    Raises:
        UsageError: the expression is none.
        StoreError: the store cannot be read.
    """
    asked = query(store, _QUESTIONS, {"rubric": rubric})
    is_small = asked["verdicts"].sum() <= _VERDICTS_AT_ONCE
    for part in [asked] if is_small else asked.iter_slices(1):
        question = None if is_small else part["question"].item()
        yield from _of_questions(
            _rows(store, part["rubric"].unique().to_list(), rubric if is_small else part["rubric"].item(), question, families)
        )


def _rows(store: Store, names: list[str], rubric: str | None, question: str | None, families: str | None) -> pl.DataFrame:
    known = [(name, answer, number) for name in names for answer, number in numbers_of_answers(name).items()]
    of_numbers = dict(zip(("rubrics", "answers", "numbers"), map(list, zip(*known, strict=True)) if known else ([], [], []), strict=True))
    about: dict[str, object] = {"rubric": rubric, "question": question, "random_only": True, "by_disagreement": BY_DISAGREEMENT}
    rows = query(store, _UNITS, {**about, **of_numbers})
    if families is None:
        return rows
    of_games = query(store, f"SELECT episode_id, ({condition(families)})::VARCHAR AS family FROM episodes")
    return rows.join(of_games, on="episode_id", how="left", maintain_order="left").with_columns(
        game=pl.coalesce(pl.col("family").hash(), "game"), task=pl.coalesce("family", "task")
    )


def _of_questions(rows: pl.DataFrame) -> Iterator[Asked]:
    for (name, question), both in rows.group_by("rubric", "question", maintain_order=True):
        labelled = both.filter(pl.col("role") == "people")
        reference = "people" if len(labelled) else "truth"
        is_used = pl.col("role").eq_missing(reference)
        for is_known in (pl.col("drawn").is_not_null(), pl.col("is_sample")):
            if not both.filter(is_used & is_known).is_empty():
                is_used = is_used & is_known
                break
        own = ("label", "labels", "differ", "drawn", "is_sample", "people")
        units = both.with_columns(pl.when(is_used).then(pl.col(own)).otherwise(None)).with_columns(has=pl.col("label").is_not_null())
        units = units.sort("has", descending=True, maintain_order=True).unique(["judge", "unit"], keep="first", maintain_order=True)
        units = units.drop("has", "role").sort("judge", "model", "game", "unit", nulls_last=True)
        for (judge,), of_judge in units.group_by("judge", maintain_order=True):
            yield Asked(
                rubric=str(name),
                question=str(question),
                judge=str(judge),
                reference="people" if reference == "people" else "planted truth",
                units=of_judge,
            )


def population(units: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The units that labels can speak for, with what the judge answers of them; and whether units without an answer are left out.

    A unit without an answer of the judge counts with the judge's mean: any value would do, since labels correct it, as long as some of them
    are of such units. Where none is, and they are more than 2 %, nothing is known of them. Columns added: predicted, the judge's number of
    it; weight: 1 over the chance with which it was drawn, so scaled that the weights of all labels add up to as many labels of equal
    weight as would tell as much (Kish 1965, Survey Sampling); 0 without a label.

    Args:
        units: rows of `asked_units`, of one judge, question and group of games.
    """
    abstained = units.filter(~pl.col("is_answered"))
    is_many = len(abstained) > NEGLIGIBLE * len(units)
    is_unknown = is_many and not abstained["label"].is_not_null().any()
    predicted, drawn = pl.coalesce("p_yes", "score"), pl.col("drawn").fill_null(1.0)
    found = (units if is_many and not is_unknown else units.filter("is_answered")).with_columns(
        predicted=predicted.fill_null(predicted.mean()), weight=pl.when(pl.col("label").is_not_null()).then(1 / drawn).otherwise(0.0)
    )
    squares = float((found["weight"] ** 2).sum())
    return found.with_columns(pl.col("weight") * (float(found["weight"].sum()) / squares if squares else 0.0)), is_unknown


def weighted_by_answers(units: pl.DataFrame, trait: str) -> pl.DataFrame | None:
    """The units as `population`, labels weighted by 1 over the share answered among units like theirs, too.

    None where no unit of some kind is answered, or the trait of one is not known.
    Right if whether the judge answers depends on the trait alone: inverse probability weighting (Horvitz and Thompson 1952, Journal of the
    American Statistical Association 47; Seaman and White 2013, Statistical Methods in Medical Research 22). Numbers are cut into thirds.

    Args:
        units: rows of `asked_units`, of one judge, question and group of games.
        trait: a key of `ANSWERS_BY`.
    """
    column = ANSWERS_BY[trait]
    like = pl.col(column) if units.schema[column] == pl.String else ((pl.col(column).rank() - 1) * _STRATA / pl.len()).floor()
    answered = pl.col("is_answered").mean().over("like")
    found = units.with_columns(like=like).with_columns(
        drawn=pl.col("drawn").fill_null(1.0) * answered,
        is_answered=pl.lit(value=True),
        score=pl.col("score").fill_null(pl.col("score").mean().over("like")),
    )
    return None if found["score"].has_nulls() or found["like"].has_nulls() else population(found)[0]
