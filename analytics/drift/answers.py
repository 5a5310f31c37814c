"""What the drift report compares, out of the store and summed by game: the same units asked again, and units asked early and late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.query import query
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JOB", "Compared", "compared_answers"]

JOB: Final = ("rubric", "rubric_hash", "judge", "answering", "question")
"""What must be the same if another answer is to be the judge's doing: wording, judge, evidence, temperature and length, question."""

_COMPARED = """
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

jobs as (
    select *, dense_rank() over (order by rubric, rubric_hash, judge, answering) as job
    from runs
),

-- one row an answer; what is asked as a number, since there may be a million of them and every step below compares them
said as materialized (
    select
        jobs.job,
        jobs.run,
        v.question,
        hash(jobs.job, v.question, v.unit_id, v.unit_hash) as unit,
        v.episode_id as game,
        v.answer,
        -- the order of the rows in the table says nothing: a lake keeps them by run; replies out of a cache are older than all calls
        row_number() over (order by calls.asked_at nulls first, v.unit_id, v.repeat) as place
    from verdicts as v
    inner join jobs using (judge_run_id)
    left join calls using (call_id)
    where v.status = 'answered' and v.rule is null  -- what the log itself settles is not the judge's answer
),

units as (
    select
        unit,
        min(run) as first_run,
        arg_min(answer, run) as first_answer,
        -- a bit for each run: as many bits as answers is one answer a run
        bit_count(bit_or(1::ubigint << (run % 64)::ubigint)) = count(*) as is_once
    from said
    group by unit
),

joined as materialized (
    select said.*, units.first_run, units.first_answer, units.is_once
    from said
    inner join units using (unit)
),

asked_often as materialized (
    select job, run, question, unit, first_run, any_value(game) as game, count(*) as n, min(place) as place
    from joined
    where not is_once
    group by all
),

shares as materialized (
    select unit, run, replace(lower(answer), '/', '') as answer, count(*) as n
    from joined
    where not is_once
    group by all
),

-- a unit that was asked n times then and m times at first stands with each of its n * m pairs of answers; the shares make one
paired as (
    select job, run, question, game, place, first_run, answer, first_answer, 1.0::double as share
    from joined
    where is_once
    union all by name
    select
        a.job, a.run, a.question, a.game, a.place, a.first_run, later.answer, earlier.answer as first_answer,
        (later.n / a.n) * (earlier.n / first.n) as share
    from asked_often as a
    inner join shares as later on a.unit = later.unit and a.run = later.run
    inner join asked_often as first on a.unit = first.unit and a.first_run = first.run
    inner join shares as earlier on a.unit = earlier.unit and a.first_run = earlier.run
),

middles as (
    select job, run, question, quantile_disc(place, 0.5) as middle
    from (
        select job, run, question, place from joined where is_once
        union all
        select job, run, question, place from asked_often
    )
    group by job, run, question
),

counted as materialized (
    select
        p.job,
        p.run,
        p.question,
        p.game,
        p.place > middles.middle as is_late,
        p.first_run,
        replace(lower(p.answer), '/', '') as answer,
        replace(lower(p.first_answer), '/', '') as first_answer,
        sum(p.share) as share
    from paired as p
    inner join middles using (job, run, question)
    group by all
),

again_pairs as (
    select job, run, question, game, answer, first_answer, min(first_run) as first_run, sum(share) as share
    from counted
    where run > first_run
    group by all
),

again_by_game as (
    select job, run, question, game, round(sum(share))::bigint as units, min(first_run) as first_run
    from again_pairs
    group by all
),

again_said as (
    select job, run, question, game, answer, share as later, 0.0 as earlier, if(answer = first_answer, share, 0.0) as same
    from again_pairs
    union all by name
    select job, run, question, game, first_answer as answer, 0.0 as later, share as earlier, 0.0 as same
    from again_pairs
),

again_sums as (
    select job, run, question, game, answer, sum(later) as later, sum(earlier) as earlier, sum(same) as same
    from again_said
    group by all
),

cell_sums as (
    select job, run, question, game, is_late, run = first_run as is_new, answer, sum(share) as share
    from counted
    group by all
),

cells as (
    select *, round(sum(share) over (partition by job, run, question, game, is_late, is_new))::bigint as units
    from cell_sums
),

repeats as (
    select a.job, a.question, avg((s.n_squared - a.n) / (a.n * (a.n - 1))) as repeats_agree
    from asked_often as a
    inner join (select unit, run, sum(n * n) as n_squared from shares group by unit, run) as s using (unit, run)
    where a.n > 1
    group by a.job, a.question
),

rows as (
    select 'again' as part, again_by_game.*, answer, later, earlier, same, first.started_at as earlier_at
    from again_by_game
    inner join again_sums using (job, run, question, game)
    inner join runs as first on again_by_game.first_run = first.run
    union all by name
    select 'cells' as part, cells.*, episodes.model
    from cells
    left join episodes on cells.game = episodes.episode_id
    union all by name
    select 'repeats' as part, * from repeats
)

select rows.* exclude (job), runs.started_at, jobs.rubric, jobs.rubric_hash, jobs.judge, jobs.answering
from rows
inner join (select distinct job, rubric, rubric_hash, judge, answering from jobs) as jobs using (job)
left join runs using (run)
order by part, jobs.job, question, run, game, is_late, is_new, answer
"""


class Compared(NamedTuple):
    """The rows behind the report; each has the columns of `JOB`."""

    again: pl.DataFrame
    """Units that a later job asked again: run, started_at, game, units, answer, later and earlier (sums of the answer's share over these
    units), same (sum of the chance that one answer of each time is this one on both), earlier_at."""
    cells: pl.DataFrame
    """All units, by run, started_at, game, model, is_late (in the later half of the job by when they were asked for) and is_new (no earlier
    job asked them): units, answer, share (sum of its shares)."""
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
    import polars as pl

    found = query(store, _COMPARED, {"rubric": rubric})
    return Compared(*(found.filter(pl.col("part") == part) for part in ("again", "cells", "repeats")))
