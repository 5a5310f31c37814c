"""Everybody's answers out of the store, counted: who gave which answer about which unit how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from analytics.query import query
from judges.rubric_files.reading import find, names
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BY_DISAGREEMENT", "Role", "answers", "labels_of", "numbers_of_answers"]

BY_DISAGREEMENT = "dashboard:disagreements"
"""`labels.source` of what a person labelled on the dashboard in disagreement-first order; in random order it is `dashboard`."""

Role = Literal["truth", "people", "engine", "judge"]
"""In this order, who is the reference when two are compared."""

_GIVEN = """
with taken as (
    select
        rubric,
        question,
        case
            when starts_with(annotator, 'llm:') then 'judge'
            when source = 'planted' or starts_with(source, 'planted:') then 'truth'
            else 'people'
        end as role,
        case
            when starts_with(annotator, 'llm:') then split_part(annotator, '#', 1)
            when source = 'planted' or starts_with(source, 'planted:') then 'planted truth'
            else 'people'
        end as rater,
        annotator as member,
        case
            when episode_id is null or starts_with(unit_key, episode_id) then unit_key
            else concat_ws('/', episode_id, turn, agent)
        end as unit,
        coalesce(episode_id, regexp_replace(unit_key, '(/.*|_[0-9]+)$', '')) as game,
        replace(lower(answer), '/', '') as answer,
        score,
        source,
        imported_at
    from labels
    where not ($random_only and source = $by_disagreement) and ($rubric is null or rubric = $rubric)
),

-- whose answers may have come by two ways; of others each is the only one of its unit, and comparing them would take most of the time
several as (
    select rubric, annotator as member
    from labels
    group by all
    having min(source) != max(source) or not bool_and(episode_id is null or starts_with(unit_key, episode_id))
),

labelled as (
    select * from taken where (rubric, member) not in (select (rubric, member) from several)
    union all
    -- one person's answer that came by two ways, such as a page and its export, is one answer: the one that came last
    select * from taken where (rubric, member) in (select (rubric, member) from several)
    qualify row_number() over (partition by rubric, question, role, rater, member, unit order by imported_at desc nulls last, source) = 1
),

judged as (
    select
        rubric,
        question,
        case when judge = 'engine' then 'engine' else 'judge' end as role,
        case when variant is null then judge else judge || ' (' || variant || ')' end as rater,
        repeat::varchar as member,
        unit_id as unit,
        episode_id as game,
        case when status = 'answered' then replace(lower(answer), '/', '') end as answer,
        score
    from verdicts_latest
    where ($rubric is null or rubric = $rubric)
),

given as (
    -- N/A as planted truth: the truth is not determined (docs/labels.md); PS6 alone has N/A as a true answer
    select * exclude (source, imported_at) from labelled where role != 'truth' or answer != 'na' or question = 'PS6'
    union all
    select * from judged
)
"""
_ANSWERS = f"""
{_GIVEN},

-- a label file knows yes and no, the rubric their numbers (of some the failure is the yes): what verdicts say of an answer goes first
known as (
    select rubric, question, answer, any_value(score) as known_score from judged where answer is not null group by all
),

counted as (
    select rubric, question, role, rater, unit, game, answer, any_value(score) as own_score, count(*) as n from given group by all
)

select counted.* exclude (own_score, n), case when known.answer is null then own_score else known_score end as score, n
from counted
left join known using (rubric, question, answer)
"""


def answers(store: Store, rubric: str | None = None, *, random_only: bool = False) -> pl.DataFrame:
    """One row is (rubric, question, role, rater, unit, game, answer) with the number of times it was given.

    People are one rater, whoever they are and wherever their labels come from; so are all repeats of a judge. `answer` is null for verdicts
    without an answer. `score` is the number of the answer in the rubric that comes with cotrace, else as verdicts have it, else as labels
    have it. `game` is the cluster: the episode, or what the label's own key begins with.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        random_only: leave out labels whose units were drawn because raters disagree: they say nothing about how often something is so.

    Raises:
        StoreError: the store cannot be read.
    """
    found = query(store, _ANSWERS, {"rubric": rubric, "random_only": random_only, "by_disagreement": BY_DISAGREEMENT})
    return _in_order(found).update(_numbers(found["rubric"].unique().to_list()), on=["rubric", "answer"], include_nulls=True)


def labels_of(given: pl.DataFrame) -> pl.DataFrame:
    """The mean number of each unit's labels: rubric, question, unit, label; of people, of planted truth where nobody answered the question.

    Args:
        given: as `answers` gives it.
    """
    import polars as pl

    labels = given.filter(pl.col("role").is_in(["people", "truth"])).drop_nulls("score")
    labels = labels.with_columns(has_people=(pl.col("role") == "people").any().over("rubric", "question"))
    labels = labels.filter((pl.col("role") == "people") == pl.col("has_people"))
    means = labels.group_by("rubric", "question", "unit", maintain_order=True)
    return means.agg(label=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """By every column up to the answer, by one number: sorting by that many texts takes longer than finding them."""
    import polars as pl

    place = pl.lit(0, pl.Int64)
    for column in ("rubric", "question", "role", "rater", "unit", "answer"):
        texts = rows[column].drop_nulls().unique().sort()
        at = pl.col(column).cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
        place = place * (len(texts) + 1) + at.fill_null(len(texts))
    return rows.sort(place)


def numbers_of_answers(rubric: str) -> dict[str, float | None]:
    """The numbers of the answers of a rubric, where it comes with cotrace, by the answers as `answers` has them; else none."""
    found = find(rubric, to_judge=False).answers if rubric in names() else {}
    return {answer.lower().replace("/", ""): score for answer, score in found.items()}


def _numbers(rubrics: list[str]) -> pl.DataFrame:
    import polars as pl

    rows = [(rubric, answer, score) for rubric in rubrics for answer, score in numbers_of_answers(rubric).items()]
    return pl.DataFrame(rows, schema={"rubric": pl.String, "answer": pl.String, "score": pl.Float64}, orient="row")
