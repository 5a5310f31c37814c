"""The report `drift`: whether a judge answers differently than before, on units asked again, and on units asked early and late."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import polars as pl

from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.shifts import FEWEST_FLIPPED, FEWEST_GAMES, Cells, Shift, group_shift, holm, paired_shift
from schemas.store.store import Store

JOB: Final = ("rubric", "rubric_hash", "judge", "answering", "question")
"""What must be the same if another answer is to be the judge's doing: wording, judge, evidence, temperature and length, question."""

_COMPARED = """
with runs as (
    select
        judge_run_id, rubric, rubric_hash,
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
answers as materialized (
    select
        jobs.job, jobs.run, v.question,
        hash(jobs.job, v.question, v.unit_id, v.unit_hash) as unit,
        v.episode_id as game,
        v.answer,
        -- the order of the rows in the table means nothing: a lake stores them by run; replies out of a cache are older than all calls
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
    from answers
    group by unit
),

joined as materialized (
    select answers.*, units.first_run, units.first_answer, units.is_once
    from answers
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

-- a unit that was asked n times then and m times at first is paired in each of its n * m pairs of answers; the shares make one
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
        p.job, p.run, p.question, p.game,
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

again_answers as (
    select job, run, question, game, answer, share as later, 0.0 as earlier, if(answer = first_answer, share, 0.0) as same
    from again_pairs
    union all by name
    select job, run, question, game, first_answer as answer, 0.0 as later, share as earlier, 0.0 as same
    from again_pairs
),

again_sums as (
    select job, run, question, game, answer, sum(later) as later, sum(earlier) as earlier, sum(same) as same
    from again_answers
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

    Raises:
        StoreError: the store cannot be read.
    """
    found = query(store, _COMPARED, {"rubric": rubric})
    return Compared(*(found.filter(pl.col("part") == part) for part in ("again", "cells", "repeats")))


_SURE = 0.05
_LITTLE = 0.03
"""Difference below which a drift that is proved is called little."""

_Row = dict[str, Any]


def drift_report(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for each answer to a question by a model judge, and each pair of times that can be compared.

    Only answers to the same wording of the rubric, with the same visible evidence, temperature and reply length are compared. `no` is
    left out where there is `yes`, and the second of two other answers: they mirror the rest.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    found = compared_answers(store, rubric)
    repeats = {tuple(row[name] for name in JOB): row["repeats_agree"] for row in found.repeats.iter_rows(named=True)}
    rows = [*_again_rows(found.again), *_group_rows(found.cells)]
    for row in rows:
        row["repeats_agree"] = repeats.get(tuple(row[name] for name in JOB)) if row["compared"] == "again" else None
    for name in {row["rubric"] for row in rows}:
        family = [row for row in rows if row["rubric"] == name]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row |= {"p_corrected": p, "tests": sum(other["p"] is not None for other in family)}
    for row in rows:
        row["drifted"] = None if row["p_corrected"] is None else row["p_corrected"] < _SURE
        row["advice"] = _advice(row)
    rows.sort(key=lambda row: (row["rubric"], row["judge"], _ORDER.index(row["compared"]), row["question"], row["answer"], row["later_at"]))
    return framed("drift", rows)


_ORDER: Final = ("again", "new", "within")


def _again_rows(again: pl.DataFrame) -> Iterator[_Row]:
    for key, part in again.group_by(*JOB, "run", maintain_order=True):
        games = part.unique("game", maintain_order=True)
        units = int(games["units"].sum())
        row = dict(zip(JOB, key, strict=False)) | {
            "compared": "again",
            "earlier_at": part["earlier_at"].min(),
            "later_at": part["started_at"][0],
            "units": units,
            "games": len(games),
            "agreement": float(part["same"].sum()) / units,
        }
        for answer in _listed_answers(part):
            sums = games.select("game", "units").join(part.filter(pl.col("answer") == answer), on="game", how="left").fill_null(0)
            later, earlier = (sums[name].cast(pl.Float64) for name in ("later", "earlier"))
            shift = paired_shift((later - earlier).to_numpy(), sums["units"].cast(pl.Float64).to_numpy())
            rates = {"answer": answer, "rate_before": float(earlier.sum()) / units, "rate_after": float(later.sum()) / units}
            yield row | rates | shift._asdict()


def _group_rows(cells: pl.DataFrame) -> Iterator[_Row]:
    for _, part in cells.group_by(*JOB, maintain_order=True):
        fresh = part.filter("is_new")
        for run in fresh["run"].unique().sort()[1:]:
            yield from _two_sides(fresh.filter(pl.col("run") <= run).with_columns(late=pl.col("run") == run), "new")
        for _, job in part.group_by("run", maintain_order=True):
            yield from _two_sides(job.with_columns(late="is_late"), "within")


def _two_sides(part: pl.DataFrame, compared: str) -> Iterator[_Row]:
    """Nothing where no evaluated model is on both sides."""
    used = part.filter(pl.col("late").n_unique().over("model") > 1)
    if used.is_empty():
        return
    sums = ["model", "game", "late", "answer"]
    cells = used.unique([*sums[:3], "run", "is_late", "is_new"])  # each has a row for every answer
    sizes = cells.group_by(*sums[:3]).agg(pl.col("units").sum()).sort(*sums[:3], nulls_last=True)
    shares = used.group_by(sums).agg(pl.col("share").sum())
    row = {name: used[name][0] for name in JOB} | {
        "compared": compared,
        "earlier_at": used["started_at"].min(),
        "later_at": used["started_at"].max(),
        "units": int(sizes["units"].sum()),
        "games": sizes["game"].n_unique(),
        "agreement": None,
    }
    for answer in _listed_answers(used):
        values = sizes.join(shares.filter(pl.col("answer") == answer), on=sums[:3], how="left", nulls_equal=True, maintain_order="left")
        shift, before, after = _shift(values.with_columns(pl.col("share").fill_null(0.0)))
        yield row | {"answer": answer, "rate_before": before, "rate_after": after} | shift._asdict()


def _shift(values: pl.DataFrame) -> tuple[Shift, float, float]:
    import numpy as np

    strata, games = (values[name].rank("dense").fill_null(0).to_numpy().astype(np.int64) for name in ("model", "game"))
    cells = Cells(
        np.unique(strata, return_inverse=True)[1],
        games - 1,
        values["late"].to_numpy(),
        values["units"].cast(pl.Float64).to_numpy(),
        values["share"].to_numpy(),
    )
    before, after = (float(cells.sums[side].sum() / cells.sizes[side].sum()) for side in (~cells.late, cells.late))
    shift = group_shift(cells)
    assert shift is not None  # every stratum has both sides
    return shift, before, after


def _listed_answers(part: pl.DataFrame) -> list[str]:
    """The answers in use without the one that mirrors the others: `no` where there is a `yes`, else the second of two."""
    used = sorted(part["answer"].unique().to_list())
    if "yes" in used:
        return [answer for answer in used if answer != "no"]
    return used[:1] if len(used) == len(("one", "its mirror")) else used


def _advice(row: _Row) -> str:
    rates = f"{_word(row['answer'])} in {_percent(row['rate_before'])} before, {_percent(row['rate_after'])} after"
    about = f"{row['question']} by {row['judge']}, {_TIMES[row['compared']](row)}: {rates}"
    if row["p_corrected"] is None:
        return f"{about}; {_too_few(row)}, too few to tell a drift from chance"
    if row["drifted"]:
        little = abs(row["difference"]) < _LITTLE
        return f"{about}; it has drifted{', though little' if little else ''} ({_points(row)}){_what_to_do(row)}"
    if row["p"] < _SURE or not (row["low"] or 0) <= 0 <= (row["high"] or 0):
        return f"{about}; it may have drifted ({_points(row)}), but this is one of {row['tests']} tests: ask about more games to be sure"
    ruled_out = "" if row["low"] is None else f"; a shift beyond {_points(row)} is unlikely"
    return f"{about}; no drift shown{ruled_out}{_both_ways(row)}"


def _too_few(row: _Row) -> str:
    if row["compared"] == "again":
        return f"fewer than {FEWEST_FLIPPED} games, of which no test could give a p below {_SURE}"
    return f"fewer than {FEWEST_GAMES} games on one side"


_TIMES: Final = {
    "again": lambda row: f"the same {row['units']} units asked again on {row['later_at']:%Y-%m-%d}",
    "new": lambda row: f"units new on {row['later_at']:%Y-%m-%d} against earlier ones",
    "within": lambda row: f"second half of the job of {row['later_at']:%Y-%m-%d} against the first",
}


def _what_to_do(row: _Row) -> str:
    if row["compared"] == "again":
        return ": do not mix the two, ask everything anew or correct each with labels of its own time"
    return ": the games differ too, so ask the same units again (--repeats) before you blame the judge"


def _both_ways(row: _Row) -> str:
    """Only where repeats show the effect of chance; a hint, not a test."""
    if row["repeats_agree"] is None or row["agreement"] is None:
        return ""
    return f"; the same answer then and now in {_percent(row['agreement'])}, from two repeats at once in {_percent(row['repeats_agree'])}"


def _points(row: _Row) -> str:
    if row["low"] is None:
        return f"{round(100 * row['difference']):+d} points"
    return f"{round(100 * row['low']):+d} to {round(100 * row['high']):+d} points"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _word(answer: str) -> str:
    return "N/A" if answer == "na" else answer
