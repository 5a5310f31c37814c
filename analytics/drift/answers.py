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

-- units as numbers: there may be a million of them, and every step below compares them
given as materialized (
    select
        jobs.job,
        jobs.run,
        v.question,
        hash(v.unit_id, v.unit_hash) as unit,
        replace(lower(v.answer), '/', '') as answer,
        any_value(v.episode_id) as game,
        count(*) as n,
        -- rows stand in the table in the order in which the answers came
        min(v.rowid) as place
    from verdicts as v
    inner join jobs using (judge_run_id)
    where v.status = 'answered'
    group by all
),

asked as materialized (
    select job, run, question, unit, any_value(game) as game, sum(n) as n, sum(n * n) as n_squared, min(place) as place
    from given
    group by job, run, question, unit
),

middles as (
    select job, run, question, quantile_disc(place, 0.5) as middle
    from asked
    group by job, run, question
),

placed as materialized (
    select
        asked.*,
        asked.place > middles.middle as is_late,
        min(asked.run) over (partition by asked.job, asked.question, asked.unit) as first_run
    from asked
    inner join middles using (job, run, question)
),

again as materialized (
    select b.job, b.run, b.question, b.unit, b.game, b.n, b.first_run, a.n as first_n
    from placed as b
    inner join asked as a on b.job = a.job and b.question = a.question and b.unit = a.unit and b.first_run = a.run
    where b.run > b.first_run
),

again_said as (
    select again.job, again.run, again.question, again.unit, again.game, given.answer, given.n / again.n as later, 0.0 as earlier
    from again
    inner join given using (job, run, question, unit)
    union all
    select again.job, again.run, again.question, again.unit, again.game, given.answer, 0.0 as later, given.n / again.first_n as earlier
    from again
    inner join given
        on again.job = given.job and again.question = given.question and again.unit = given.unit and again.first_run = given.run
),

again_by_unit as (
    select job, run, question, unit, game, answer, sum(later) as later, sum(earlier) as earlier
    from again_said
    group by all
),

again_by_game as (
    select job, run, question, game, count(*) as units, min(first_run) as first_run
    from again
    group by all
),

again_sums as (
    select job, run, question, game, answer, sum(later) as later, sum(earlier) as earlier, sum(later * earlier) as same
    from again_by_unit
    group by all
),

cell_sizes as (
    select job, run, question, game, is_late, run = first_run as is_new, count(*) as units
    from placed
    group by all
),

cell_sums as (
    select
        placed.job,
        placed.run,
        placed.question,
        placed.game,
        is_late,
        run = first_run as is_new,
        given.answer,
        sum(given.n / placed.n) as share
    from placed
    inner join given using (job, run, question, unit)
    group by all
),

repeats as (
    select job, question, avg((n_squared - n) / (n * (n - 1))) as repeats_agree
    from asked
    where n > 1
    group by job, question
),

rows as (
    select 'again' as part, again_by_game.*, answer, later, earlier, same, first.started_at as earlier_at
    from again_by_game
    inner join again_sums using (job, run, question, game)
    inner join runs as first on again_by_game.first_run = first.run
    union all by name
    select 'cells' as part, cell_sizes.*, answer, share, episodes.model
    from cell_sizes
    inner join cell_sums using (job, run, question, game, is_late, is_new)
    left join episodes on cell_sizes.game = episodes.episode_id
    union all by name
    select 'repeats' as part, * from repeats
)

select rows.* exclude (job), runs.started_at, jobs.rubric, jobs.rubric_hash, jobs.judge, jobs.answering
from rows
inner join (select distinct job, rubric, rubric_hash, judge, answering from jobs) as jobs using (job)
left join runs using (run)
order by part, rubric, rubric_hash, judge, answering, question, run, game, is_late, is_new, answer
"""


class Compared(NamedTuple):
    """The rows behind the report; each has the columns of `JOB`."""

    again: pl.DataFrame
    """Units that a later job asked again: run, started_at, game, units, answer, later and earlier (sums of the answer's share over these
    units), same (sum of the chance that one answer of each time is this one on both), earlier_at."""
    cells: pl.DataFrame
    """All units, by run, started_at, game, model, is_late (in the later half of the job by the order of the answers) and is_new (no earlier
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
