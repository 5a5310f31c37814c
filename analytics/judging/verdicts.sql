-- scoring_jobs: what each scoring job did, and what it took.
-- One row is (judge_run_id).
-- Columns as in: judge_runs.
-- Report: scoring-jobs, ordered by started_at desc, rubric, judge_run_id
-- Shows: started_at, rubric, judge, status, units, verdicts, failed, calls, tokens_in, tokens_out, cost
create or replace view scoring_jobs as
select
    judge_runs.judge_run_id, judge_runs.rubric, judge_runs.judge, judge_runs.model, judge_runs.variant, judge_runs.started_at,
    judge_runs.finished_at, judge_runs.status, judge_runs.units,
    coalesce(given.verdicts, 0) as verdicts,
    coalesce(given.failed, 0) as failed,
    judge_runs.calls, judge_runs.tokens_in, judge_runs.tokens_out, judge_runs.cost,
    case when judge_runs.cost is null then judge_runs.calls else 0 end as calls_unpriced,
    1000 * (tokens_in + tokens_out) / nullif(given.verdicts, 0) as tokens_per_1000,
    1000 * judge_runs.cost / nullif(given.verdicts, 0) as cost_per_1000,
    epoch(finished_at - started_at) as wall_s
from judge_runs
left join (
    select judge_run_id, count(*) as verdicts, count(*) filter (status = 'failed') as failed
    from verdicts
    group by judge_run_id
) as given using (judge_run_id);

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
    sum(verdicts)::bigint as verdicts,
    sum(failed)::bigint as failed,
    sum(calls)::bigint as calls,
    case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
    case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
    count(cost) as runs_priced,
    sum(calls_unpriced)::bigint as calls_unpriced,
    sum(cost) as cost_usd,
    sum(cost) / nullif(sum(units) filter (cost is not null), 0) as cost_per_unit_usd,
    1000 * sum(tokens_in + tokens_out) / nullif(sum(verdicts) filter (tokens_in + tokens_out is not null), 0) as tokens_per_1000,
    1000 * sum(cost) / nullif(sum(verdicts) filter (cost is not null), 0) as cost_per_1000,
    sum(wall_s) as wall_s,
    min(started_at) as first_started_at,
    max(started_at) as last_started_at
from scoring_jobs
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

-- experiments: what was played: the games of each experiment, how they ended, and what the players cost.
-- One row is (run_id) with games; a game that another experiment repeats counts in the first.
-- Report: experiments, ordered by started_at desc nulls last, name, run_id
-- Shows: started_at, name, benchmark, teams, games, won, cut, broken, cost
create or replace view experiments as
with paid as (
    select run_id, sum(calls.cost) as cost, count(*) filter (calls.cost is null) as calls_unpriced
    from calls
    inner join episodes using (episode_id)
    where purpose = 'player'
    group by run_id
)

select
    run_id, runs.benchmark,
    any_value(runs.name) as name,
    any_value(run_conditions.condition) as condition,
    any_value(runs.started_at) as started_at,
    string_agg(distinct episodes.model, ', ' order by episodes.model) as teams,
    count(games.episode_id) as games,
    count(*) filter (games.success) as won,
    count(*) filter (games.ending = 'cut') as cut,
    count(*) filter (games.ending = 'not_set_up') as broken,
    any_value(paid.cost) as cost,
    any_value(paid.calls_unpriced) as calls_unpriced
from runs
inner join episodes using (run_id)
inner join run_conditions using (run_id)
left join games using (episode_id)
left join paid using (run_id)
group by run_id, runs.benchmark;

-- spending: what models have cost, by what they were asked for.
-- One row is a purpose: `judge` for all scoring jobs together, or a purpose of `calls`.
-- Report: spending, ordered by purpose
create or replace view spending as
select
    'judge' as purpose, sum(calls)::bigint as calls,
    case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
    case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
    sum(cost) as cost,
    sum(calls_unpriced)::bigint as calls_unpriced
from scoring_jobs
having count(*) > 0
union all by name
select
    purpose, sum(attempts)::bigint as calls,
    case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
    case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
    sum(cost) as cost,
    count(*) filter (cost is null) as calls_unpriced
from calls
where purpose <> 'judge'
group by purpose;

-- verdicts_newest: each answer as the latest scoring job gave it, whether or not the store still has what was judged; without probes.
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

-- most games were judged by one job of a kind: comparing their verdicts would take most of the time
judged_again as (
    select episode_id, judge_run_id
    from (
        select distinct verdicts.episode_id, judge_run_id, runs.rubric, runs.judge, runs.variant
        from unmaterialized('verdicts') as verdicts
        inner join judge_runs as runs using (judge_run_id)
        inner join ranked_runs using (judge_run_id)
        where ranked_runs.has_rivals
    )
    qualify count(*) over (partition by episode_id, rubric, judge, variant) > 1
),

alone as (
    select verdicts.*
    from unmaterialized('verdicts') as verdicts
    inner join ranked_runs using (judge_run_id)
    where (verdicts.episode_id, judge_run_id) not in (select (episode_id, judge_run_id) from judged_again)
),

compared as (
    select verdicts.*
    from unmaterialized('verdicts') as verdicts
    inner join ranked_runs using (judge_run_id)
    where (verdicts.episode_id, judge_run_id) in (select (episode_id, judge_run_id) from judged_again)
    qualify row_number() over (
        partition by verdicts.rubric, verdicts.question, verdicts.judge, verdicts.variant, verdicts.unit_id, verdicts.repeat
        order by ranked_runs.run_order desc
    ) = 1
)

select * from alone
union all
select * from compared;

-- verdicts_latest: the verdicts that count: each answer as the latest scoring job gave it, where the store still has what was judged; without probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Read by judged game:
-- Columns as in: verdicts.
create or replace view verdicts_latest as
select latest.*
from unmaterialized('verdicts_newest') as latest
where
    latest.episode_id in (select episodes.episode_id from episodes)
    and (latest.turn is null or (latest.episode_id, latest.turn) in (select (turns.episode_id, turns.turn) from unmaterialized('turns') as turns));
