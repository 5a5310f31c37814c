-- cost: what scoring has cost.
-- One row is (rubric, judge, model, variant).
-- Report: cost, ordered by last_started_at
-- Shows: rubric, judge, units, calls, tokens_in, tokens_out, cost_usd, calls_unpriced
create or replace view cost as
select
    rubric, judge, model, variant,
    count(*) as runs,
    count(*) filter (status <> 'finished') as unfinished,
    sum(units)::bigint as units,
    sum(calls)::bigint as calls,
    case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
    case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
    count(cost) as runs_priced,
    coalesce(sum(calls) filter (cost is null), 0)::bigint as calls_unpriced,
    sum(cost) as cost_usd,
    sum(cost) / nullif(sum(units) filter (cost is not null), 0) as cost_per_unit_usd,
    sum(epoch(finished_at - started_at)) as wall_s,
    min(started_at) as first_started_at,
    max(started_at) as last_started_at
from judge_runs
group by rubric, judge, model, variant;

-- verdict_costs: what each verdict took: a request that answers several questions is shared among its answers.
-- One row is a verdict that came from a request to a model.
-- Report: verdict-costs, ordered by cost_usd desc nulls last, tokens_out desc, rubric, question, unit_id, repeat
-- Shows: rubric, question, judge, unit_id, status, tokens_in, tokens_out, cost_usd
create or replace view verdict_costs as
with shared as (
    select *, count(*) over (partition by call_id) as answers_of_call
    from verdicts
    where call_id is not null
)

select
    shared.judge_run_id, shared.rubric, shared.question, shared.judge, shared.variant, shared.unit_id,
    shared.episode_id, shared.turn, shared.agent, shared.repeat, shared.status, shared.answers_of_call,
    calls.attempts / shared.answers_of_call as calls,
    calls.tokens_in / shared.answers_of_call as tokens_in,
    calls.tokens_out / shared.answers_of_call as tokens_out,
    calls.cost / shared.answers_of_call as cost_usd,
    calls.latency_s
from shared
inner join calls using (call_id);

-- verdicts_newest: of each answer the one of the latest scoring job, wherever what was judged is; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Read by judged game:
-- Columns as in: verdicts.
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
    from unmaterialized('verdicts') as verdicts
    inner join ranked_runs using (judge_run_id)
    where not ranked_runs.has_rivals
),

compared as (
    select verdicts.*
    from unmaterialized('verdicts') as verdicts
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

-- verdicts_latest: the verdicts that count: of each answer the one of the latest scoring job, where what was judged is still in the store; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Read by judged game:
-- Columns as in: verdicts.
create or replace view verdicts_latest as
select latest.*
from unmaterialized('verdicts_newest') as latest
where
    latest.episode_id in (select episodes.episode_id from episodes)
    and (latest.turn is null or (latest.episode_id, latest.turn) in (select (turns.episode_id, turns.turn) from unmaterialized('turns') as turns));
