-- verdicts_latest: the verdicts that count: of each answer the one of the latest scoring job, where what was judged is still in the store; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Columns as in: verdicts.
-- Reads: verdicts, judge_runs, episodes, turns.
create or replace view verdicts_latest as

with ranked_runs as (
    select
        judge_run_id,
        row_number() over (order by started_at, judge_run_id) as run_order,
        count(*) over (partition by rubric, judge, variant) > 1 as has_rivals
    from judge_runs
    where variant is null or not starts_with(variant, 'probe:')
),

-- most jobs are the only one of their kind: their verdicts need no comparing
alone as (
    select verdicts.*
    from verdicts
    inner join ranked_runs using (judge_run_id)
    where not ranked_runs.has_rivals
),

compared as (
    select verdicts.*
    from verdicts
    inner join ranked_runs using (judge_run_id)
    where ranked_runs.has_rivals
    qualify row_number() over (
        partition by verdicts.rubric, verdicts.question, verdicts.judge, verdicts.variant, verdicts.unit_id, verdicts.repeat
        order by ranked_runs.run_order desc
    ) = 1
),

latest as (
    select * from alone
    union all
    select * from compared
)

select latest.*
from latest
where
    exists (select 1 from episodes where episodes.episode_id = latest.episode_id)
    and (
        latest.turn is null
        or exists (select 1 from turns where turns.episode_id = latest.episode_id and turns.turn = latest.turn)
    );
