"""What the drift report compares, out of the store and summed by game: the same units asked again, and units asked early and late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.query import frame
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JOB", "Compared", "compared_answers"]

JOB: Final = ("rubric", "rubric_hash", "judge", "answering", "question")
"""What must be the same if another answer is to be the judge's doing: wording, judge with its walls, temperature and length, question."""

_KEY: Final = ", ".join(JOB)

_ASKED = f"""
with runs as (
    select
        judge_run_id,
        rubric,
        rubric_hash,
        case when variant is null then judge else judge || ' (' || variant || ')' end as judge,
        coalesce(parameters ->> '$.answering', '') as answering,
        started_at,
        row_number() over (order by started_at, judge_run_id) as run
    from judge_runs
    where
        starts_with(judge, 'llm:')
        and (variant is null or not starts_with(variant, 'probe:'))
        and ($rubric is null or rubric = $rubric)
),

given as materialized (
    select
        runs.rubric,
        runs.rubric_hash,
        runs.judge,
        runs.answering,
        v.question,
        runs.run,
        v.unit_id,
        v.unit_hash,
        v.episode_id as game,
        replace(lower(v.answer), '/', '') as answer,
        count(*) as n,
        -- rows stand in the table in the order in which the answers came
        min(v.rowid) as place
    from verdicts as v
    inner join runs using (judge_run_id)
    where v.status = 'answered'
    group by all
),

asked as materialized (
    select
        {_KEY}, run, unit_id, unit_hash, game,
        sum(n) as n,
        sum(n * n) as n_squared,
        min(place) as place
    from given
    group by all
),

first_asked as materialized (
    select *, min(run) over (partition by {_KEY}, unit_id, unit_hash) as first_run
    from asked
)
"""

_SAME = f"{_KEY}, unit_id, unit_hash"

_AGAIN = f"""
{_ASKED},

again as materialized (
    select b.*, a.n as first_n
    from first_asked as b
    inner join asked as a using ({_SAME})
    where a.run = b.first_run and b.run > b.first_run
),

said as (
    select again.* exclude (n, n_squared, place, first_n), given.answer, given.n / again.n as later, 0.0 as earlier
    from again
    inner join given using ({_SAME}, run)
    union all by name
    select again.* exclude (n, n_squared, place, first_n), given.answer, 0.0 as later, given.n / again.first_n as earlier
    from again
    inner join given using ({_SAME})
    where given.run = again.first_run
),

by_unit as (
    select * exclude (later, earlier), sum(later) as later, sum(earlier) as earlier
    from said
    group by all
),

by_answer as (
    select {_KEY}, run, game, answer,
        sum(later) as later, sum(earlier) as earlier, sum(later * earlier) as same
    from by_unit
    group by all
),

by_game as (
    select {_KEY}, run, game, count(*) as units, min(first_run) as first_run
    from again
    group by all
)

select
    by_game.*,
    by_answer.answer,
    by_answer.later,
    by_answer.earlier,
    by_answer.same,
    runs.started_at as later_at,
    first.started_at as earlier_at
from by_game
inner join by_answer using ({_KEY}, run, game)
inner join runs using (run)
inner join runs as first on by_game.first_run = first.run
order by all
"""

_REPEATS = f"""
{_ASKED}

select {_KEY}, avg((n_squared - n) / (n * (n - 1))) as repeats_agree
from (
    select {_KEY}, run, unit_id, unit_hash, sum(n) as n, sum(n * n) as n_squared
    from given
    group by all
)
where n > 1
group by all
"""

_CELLS = f"""
{_ASKED},

placed as materialized (
    select *, ntile(2) over (partition by {_KEY}, run order by place) as half from first_asked
),

sides as (
    select * exclude (n, n_squared, place, half), run as later_run, half = 2 as late, 'within' as compared from placed
    union all by name
    select * exclude (n, n_squared, place, half), run as later_run, true as late, 'new' as compared from placed where run = first_run
),

sizes as (
    select {_KEY}, compared, later_run, game, late, count(*) as units
    from sides
    group by all
),

said as (
    select
        s.rubric, s.rubric_hash, s.judge, s.answering, s.question, s.compared, s.later_run, s.game, s.late, given.answer,
        sum(given.n / asked.n) as share
    from sides as s
    inner join given using ({_SAME}, run)
    inner join asked using ({_SAME}, run)
    group by all
)

select sizes.*, said.answer, said.share, episodes.model, runs.started_at
from sizes
inner join said using ({_KEY}, compared, later_run, game, late)
inner join runs on sizes.later_run = runs.run
left join episodes on sizes.game = episodes.episode_id
order by all
"""


class Compared(NamedTuple):
    """The rows behind the report; each has the columns of `JOB`."""

    again: pl.DataFrame
    """Units that a later job asked again: run, game, units, answer, later and earlier (sums of the answer's share over these units), same
    (sum of the chance that one answer of each time is this one on both), later_at, earlier_at."""
    cells: pl.DataFrame
    """All units: compared (`within`: the halves of a job by order of asking; `new`: units by the job that first asked them), later_run,
    game, late (the half), units, answer, share (sum of its shares), model, started_at."""
    repeats: pl.DataFrame
    """repeats_agree: the chance that two repeats asked in one job are equal, 0 to 1."""


def compared_answers(store: Store, rubric: str | None = None) -> Compared:
    """Read them, of model judges; probes are left out.

    Args:
        store: a store.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        return Compared(*(frame(connection, sql, {"rubric": rubric}) for sql in (_AGAIN, _CELLS, _REPEATS)))
