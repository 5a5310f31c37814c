"""Everybody's answers out of the store, counted: who gave which answer about which unit how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from analytics.query import query
from judges.rubric.files import find, names
from schemas.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["BY_DISAGREEMENT", "Given", "Role", "answers", "numbered_answers"]

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
        and (not list_contains($alone, rubric) or unit_id in (select unit from labelled where unit is not null))
),

given as (
    -- N/A as planted truth: the truth is not determined (docs/labels.md); PS6 alone has N/A as a true answer
    select * exclude (source, imported_at) from labelled where role != 'truth' or answer != 'na' or question = 'PS6'
    union all
    select * from judged
)
"""
_ALONE: Final = """
SELECT rubric FROM verdicts WHERE ($rubric IS NULL OR rubric = $rubric) AND (variant IS NULL OR NOT starts_with(variant, 'probe:'))
    AND rubric NOT IN (SELECT rubric FROM labels WHERE starts_with(annotator, 'llm:'))
GROUP BY rubric HAVING max(repeat) = 1 AND min(judge) = max(judge) AND min(coalesce(variant, '')) = max(coalesce(variant, ''))
"""
"""Rubrics whose units have one verdict each: a question of which only one judge was asked, and once."""

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
# Texts of a million units take most of the time of a report. That two units of a question have one number by chance happens in one of ten
# million stores of a million units.
_NUMBERED = f"{_GIVEN} select rubric, question, role, rater, hash(unit) as unit, hash(game) as game, answer, score from given"
_COUNTED = """
with counted as (
    select rubric, question, judge, variant, status, answer, {game} as game, max(score) as score, count(*) as n
    from verdicts_latest
    where list_contains($alone, rubric)
    group by all
)

select
    rubric,
    question,
    case when judge = 'engine' then 'engine' else 'judge' end as role,
    case when variant is null then judge else judge || ' (' || variant || ')' end as rater,
    case when status = 'answered' then replace(lower(answer), '/', '') end as answer,
    hash(game) as game,
    score,
    n
from counted
"""
_KIND: Final = ("rubric", "question", "role", "rater", "answer")


class Given(NamedTuple):
    """Answers, without the names of units and games."""

    units: pl.DataFrame
    """A row each time that one was given about a unit which others may have answered, too: rubric, question, role, rater, answer, score,
    and as numbers unit and game (`hash` of DuckDB); in no order."""
    counted: pl.DataFrame
    """Of rubrics whose units have one verdict each, all verdicts: rubric, question, role, rater, answer, score, game (null where not asked
    for) and their number n."""


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
    found = query(store, _ANSWERS, _asked(rubric, random_only=random_only))
    return _in_order(found).update(_numbers(found["rubric"].unique().to_list()), on=["rubric", "answer"], include_nulls=True)


def numbered_answers(store: Store, rubric: str | None = None, *, random_only: bool = False, by_game: bool = False) -> Given:
    """As `answers`, for reports that ask neither for units nor for games by name.

    A unit that has one verdict and no label is only counted: with millions of them, nothing is compared about most.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        random_only: as in `answers`.
        by_game: count by game.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    alone = query(store, _ALONE, {"rubric": rubric})["rubric"].to_list()
    found = query(store, _NUMBERED, _asked(rubric, random_only=random_only, alone=alone))
    counted = query(store, _COUNTED.format(game="episode_id" if by_game else "NULL"), {"alone": alone})
    units, counted = (rows.with_columns(pl.col(*_KIND).cast(pl.Categorical)) for rows in (found, counted))
    of_answer = ["rubric", "question", "answer"]
    judged = units.filter(pl.col("role").is_in(["engine", "judge"]) & ~pl.col("rubric").is_in(alone))
    said = pl.concat([rows.select(*of_answer, "score") for rows in (judged, counted)]).drop_nulls("answer")
    known = said.group_by(of_answer).agg(known_score=pl.col("score").max(), is_known=pl.lit(value=True))
    rubrics = {*found["rubric"].unique(), *alone}
    built_in = _numbers(sorted(rubrics)).with_columns(pl.col("rubric", "answer").cast(pl.Categorical))
    scores = (
        pl.concat([units.select(of_answer), counted.select(of_answer)])
        .unique()
        .join(known, on=of_answer, how="left")
        .join(built_in.rename({"score": "built_in"}).with_columns(is_built_in=True), on=["rubric", "answer"], how="left")
    )
    score = pl.when("is_built_in").then("built_in").when("is_known").then("known_score").otherwise("score")
    units, counted = (rows.join(scores, on=of_answer, how="left").with_columns(score=score) for rows in (units, counted))
    return Given(units.select(*_KIND, "unit", "game", "score"), counted.select(*_KIND, "game", "score", "n"))


def _asked(rubric: str | None, *, random_only: bool, alone: Sequence[str] = ()) -> dict[str, object]:
    return {"rubric": rubric, "random_only": random_only, "by_disagreement": BY_DISAGREEMENT, "alone": list(alone)}


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """By every column up to the answer, by one number: sorting by that many texts takes longer than finding them."""
    import polars as pl

    place = pl.lit(0, pl.Int64)
    for column in ("rubric", "question", "role", "rater", "unit", "answer"):
        texts = rows[column].drop_nulls().unique().sort()
        at = pl.col(column).cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
        place = place * (len(texts) + 1) + at.fill_null(len(texts))
    return rows.sort(place)


def _numbers(rubrics: list[str]) -> pl.DataFrame:
    """The numbers of the answers of those rubrics that come with cotrace."""
    import polars as pl

    built_in = [find(name) for name in rubrics if name in names()]
    rows = [(rubric.name, answer.lower().replace("/", ""), score) for rubric in built_in for answer, score in rubric.answers.items()]
    return pl.DataFrame(rows, schema={"rubric": pl.String, "answer": pl.String, "score": pl.Float64}, orient="row")
