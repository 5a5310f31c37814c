-- verdicts_newest: of each answer the one of the latest scoring job, wherever what was judged is; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Columns as in: verdicts.
-- Reads: verdicts, judge_runs.
create or replace view verdicts_newest as

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
)

select * from alone
union all
select * from compared;
