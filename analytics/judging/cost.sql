-- cost: what scoring has cost.
-- One row is (rubric, judge, model, variant).
--   rubric  text  name of the rubric
--   judge  text  `engine` or `llm:<model>`
--   model  text  provider/model; null for the engine
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   runs  count  scoring jobs
--   unfinished  count  jobs among them that did not finish: running, stopped by the budget, or interrupted
--   units  count  units put to the judge, over all jobs
--   calls  count  requests sent, retries included
--   tokens_in  tokens  prompt tokens as billed; null if the server has not counted those of all jobs
--   tokens_out  tokens  completion tokens likewise
--   runs_priced  count  jobs whose model has a price
--   calls_unpriced  count  calls of the other jobs, whose cost is not known: where there are any, cost_usd is a lower bound
--   cost_usd  USD  cost of the priced jobs; null if there is none
--   cost_per_unit_usd  USD  cost of the priced jobs / their units; null if there is none
--   wall_s  s  time from start to finish, summed over jobs that ended; null if none did
--   first_started_at  UTC  start of the first job
--   last_started_at  UTC  start of the last job
-- Report: cost, ordered by last_started_at
-- Shows: rubric, judge, units, calls, tokens_in, tokens_out, cost_usd, calls_unpriced
-- Reads: judge_runs.
create or replace view cost as

select
    rubric,
    judge,
    model,
    variant,
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
