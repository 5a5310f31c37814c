"""The answers of all raters from the store, counted: who gave which answer about which unit how often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.query import query
from analytics.statistics.intervals import Floats
from judges.rubric_files.load import find, names
from schemas.common.text import in_sql
from schemas.store.store import Store

if TYPE_CHECKING:
    import duckdb

    Codes = NDArray[np.int64]

BY_DISAGREEMENT = "dashboard:disagreements"
"""`labels.source` of what a person labelled on the dashboard in disagreement-first order; in random order it is `dashboard`."""

Role = Literal["truth", "people", "engine", "judge"]
"""In this order, who is the reference when two are compared."""

GIVEN: Final = """
with taken as (
    select
        rubric, question, case
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
        score, turn, agent, sampling_probability as probability,
        -- of planted truth, what was labelled does not follow from what it is
        sampling_probability is not null or source = 'dashboard' or source = 'planted' or starts_with(source, 'planted:') as is_sample,
        source, imported_at
    from labels
    where not ($random_only and source = $by_disagreement) and ($rubric is null or rubric = $rubric)
        and ($question is null or question = $question)
),

-- whose answers may have come from two sources; of others each is the only one of its unit, and comparing them would take most of the time
several as (
    select rubric, annotator as member
    from labels
    group by all
    having min(source) != max(source) or not bool_and(episode_id is null or starts_with(unit_key, episode_id))
),

labelled as (
    select * from taken where (rubric, member) not in (select (rubric, member) from several)
    union all
    -- one person's answer that came from two sources, such as a page and its export, is one answer: the one that came last
    select * from taken where (rubric, member) in (select (rubric, member) from several)
    qualify row_number() over (partition by rubric, question, role, rater, member, unit order by imported_at desc nulls last, source) = 1
),

judged as (
    select
        rubric, question,
        case when judge = 'engine' then 'engine' else 'judge' end as role,
        case when variant is null then judge else judge || ' (' || variant || ')' end as rater,
        repeat::varchar as member,
        unit_id as unit,
        episode_id as game,
        case when status = 'answered' then replace(lower(answer), '/', '') end as answer,
        score, turn, agent, probability, true as is_sample
    from verdicts_latest
    where ($rubric is null or rubric = $rubric) and ($question is null or question = $question)
),

given as (
    -- N/A as planted truth: the truth is not determined (docs/labels.md); PS6 alone has N/A as a true answer
    select * exclude (source, imported_at) from labelled where role != 'truth' or answer != 'na' or question = 'PS6'
    union all
    select * from judged
)
"""
"""CTE `given`: one row an answer; probability is that of a verdict's tokens, or that with which a label's unit was drawn; is_sample:
whether a label's unit is known to be drawn: with a recorded chance, or in random order on the page Labelling."""
_OUTSIDE: Final = """
SELECT DISTINCT regexp_replace(unit_key, '(/.*|_[0-9]+)$', '')
FROM labels
WHERE episode_id IS NULL AND {about}
UNION
SELECT episode_id
FROM (SELECT DISTINCT episode_id FROM labels WHERE {about})
ANTI JOIN episodes USING (episode_id)
WHERE episode_id IS NOT NULL
"""
_ONE_BY_ONE: Final = """
SELECT episode_id, rubric, question, answers, details, 1 AS units, turn AS turns, turn * turn AS squared_turns, turn AS last_turn,
    length AS lengths, CASE WHEN agent IS NOT NULL THEN map([agent], [1::UBIGINT]) END AS agents, unit_id, agent
FROM unit_answers
"""


def counted_answers(
    connection: duckdb.DuckDBPyConnection, rubric: str | None = None, question: str | None = None, *, by_name: bool = False
) -> str:
    """SQL of rows like those of the view `game_answers`, and such of games outside the store: unit_id and agent are of single units.

    Args:
        connection: to a store with the views.
        rubric: only this one; None: all.
        question: only this one; None: all.
        by_name: single units all.
    """
    asked = [f"{name} = {in_sql(value)}" for name, value in (("rubric", rubric), ("question", question)) if value is not None]
    about = " AND ".join(asked or ["true"])
    if by_name:
        return f"{_ONE_BY_ONE} WHERE {about}"
    outside = [in_sql(name) for (name,) in connection.execute(_OUTSIDE.format(about=about)).fetchall()]
    stored = f"SELECT *, NULL::VARCHAR AS unit_id, NULL::VARCHAR AS agent FROM game_answers WHERE {about}"
    if not outside:
        return stored
    is_outside = f"episode_id IN ({', '.join(outside)})"
    return f"{stored} AND NOT {is_outside} UNION ALL BY NAME {_ONE_BY_ONE} WHERE {about} AND {is_outside}"


_ANSWERS = f"""
{GIVEN},

-- a label file knows yes and no, the rubric their numbers (of some the failure is the yes): what verdicts say of an answer goes first
known as (
    select rubric, question, answer, any_value(score) as known_score from judged where answer is not null group by all
),

counted as (
    select rubric, question, role, rater, unit, game, answer, any_value(score) as own_score, count(*) as n from given
    where $games is null or game in (select unnest($games::varchar[]))
    group by all
)

select counted.* exclude (own_score, n), case when known.answer is null then own_score else known_score end as score, n
from counted
left join known using (rubric, question, answer)
"""


def answers(store: Store, rubric: str | None = None, *, random_only: bool = False, games: Sequence[str] | None = None) -> pl.DataFrame:
    """One row is (rubric, question, role, rater, unit, game, answer) with the number of times it was given.

    People are one rater, whoever they are and wherever their labels come from; so are all repeats of a judge. `answer` is null for verdicts
    without an answer. `score` is the number of the answer in the rubric that comes with cotrace, else as verdicts have it, else as labels
    have it. `game` is the cluster: the episode, or what the label's own key begins with.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        random_only: leave out labels whose units were drawn because raters disagree: they say nothing about how often something is so.
        games: only these; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    found = query(
        store,
        _ANSWERS,
        {"rubric": rubric, "question": None, "random_only": random_only, "by_disagreement": BY_DISAGREEMENT, "games": games},
    )
    return _in_order(found).update(_numbers(found["rubric"].unique().to_list()), on=["rubric", "answer"], include_nulls=True)


def labels_of(given: pl.DataFrame) -> pl.DataFrame:
    """The mean number of each unit's labels: rubric, question, unit, label; of people, of planted truth where no person answered.

    Args:
        given: as `answers` gives it.
    """
    labels = given.filter(pl.col("role").is_in(["people", "truth"])).drop_nulls("score")
    labels = labels.with_columns(has_people=(pl.col("role") == "people").any().over("rubric", "question"))
    labels = labels.filter((pl.col("role") == "people") == pl.col("has_people"))
    means = labels.group_by("rubric", "question", "unit", maintain_order=True)
    return means.agg(label=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """By every column up to the answer, by one number: sorting by that many texts takes longer than finding them."""
    place = pl.lit(0, pl.Int64)
    for column in ("rubric", "question", "role", "rater", "unit", "answer"):
        texts = rows[column].drop_nulls().unique().sort()
        at = pl.col(column).cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
        place = place * (len(texts) + 1) + at.fill_null(len(texts))
    return rows.sort(place)


@cache  # asked for every question of every report
def numbers_of_answers(rubric: str) -> dict[str, float | None]:
    """The numbers of the answers of a rubric, where it comes with cotrace, by the answers as `answers` has them; else none."""
    found = find(rubric, to_judge=False).answers if rubric in names() else {}
    return {answer.lower().replace("/", ""): score for answer, score in found.items()}


def _numbers(rubrics: list[str]) -> pl.DataFrame:
    rows = [(rubric, answer, score) for rubric in rubrics for answer, score in numbers_of_answers(rubric).items()]
    return pl.DataFrame(rows, schema={"rubric": pl.String, "answer": pl.String, "score": pl.Float64}, orient="row")


Rater = tuple[Role, str]
"""Role and name."""
ORDER: Final[tuple[Role, ...]] = ("truth", "people", "engine", "judge")
"""In this order, who is the reference when two are compared."""

_DENSE: Final = 2**23
"""Keys up to which sums stand in one array."""
_SMALL: Final = 2**16


class Matched(NamedTuple):
    """How two raters, or one twice, answered a question: a row for each way in which units of a game were answered."""

    games: Codes
    """Of each row, a place in `Answered.games`."""
    ways: Codes
    """Of each row, a place in the counts."""
    units: Floats
    counts_first: Floats
    """How often each answer was given, and last how often none: shape (ways, answers + 1)."""
    counts_second: Floats


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What was answered about a rubric."""

    rubric: str
    answers: tuple[str, ...]
    scores: Mapping[tuple[str, Rater, str | None], float | None]
    """Of all that were given, the answers' numbers: question, rater, answer (None: asked without giving one)."""
    games: NDArray[np.uint64]
    """`hash` of their names in DuckDB."""
    questions: Mapping[str, tuple[Codes, Codes, Floats]]
    """Of each, by name: rows of a place in `games`, one in the counts, and how many units of the game were answered so."""
    counts: Mapping[Rater, Floats]
    """As in `Matched`, of the ways in which all raters together answered."""

    def pairs(self) -> Iterator[tuple[Rater, Rater]]:
        """Raters that answered the same units, the reference first; people and judges that did so more than once, with themselves."""
        for (first, counts), (second, others) in combinations_with_replacement(self.counts.items(), 2):
            both = counts.sum(axis=1) * others.sum(axis=1)
            if (both > 0).any() if first != second else first[0] in {"people", "judge"} and (both > 1).any():
                yield first, second

    def matched(self, first: Rater, second: Rater, question: str) -> Matched:
        """The answers of two raters to one question about the units that both were asked about."""
        games, ways, units = self.questions[question]
        different, way = np.unique(np.hstack([self.counts[first], self.counts[second]]), axis=0, return_inverse=True)
        sides = np.hsplit(different, 2)
        is_asked = np.logical_and(*(side.sum(axis=1) > 0 for side in sides))
        codes = way.ravel()[ways]
        used = is_asked[codes]
        keys, units = sums_by(games[used] * len(different) + codes[used], units[used], len(self.games) * len(different))
        return Matched(keys // len(different), keys % len(different), units, *sides)


def numbered(values: Codes) -> tuple[Codes, int]:
    """Each value's place among those that there are, and how many there are; values from 0."""
    if values.max(initial=0) >= _SMALL + 4 * len(values):
        found, places = np.unique(values, return_inverse=True)
        return places, len(found)
    is_there = np.bincount(values) > 0
    return (is_there.cumsum() - 1)[values], int(is_there.sum())


def sums_by(keys: Codes, amounts: Floats, most: int) -> tuple[Codes, Floats]:
    """The keys that there are, ascending, and the sum of the amounts of each; keys are below `most`."""
    if most > max(_DENSE, len(keys)):
        found, places = np.unique(keys, return_inverse=True)
        return found, np.bincount(places, weights=amounts).astype(float)
    sums = np.bincount(keys, weights=amounts).astype(float)
    there = np.flatnonzero(sums)
    return there, sums[there]
