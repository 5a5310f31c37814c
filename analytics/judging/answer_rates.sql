-- answer_rates: which share of its answers each scoring job gave to each answer; probes left out.
-- One row is (judge_run_id, question, answer), also with a count of 0 where another job of the same rubric, wording and judge gave that answer.
--   rubric  text  name of the rubric
--   rubric_hash  text  hash of its content: another wording is another question
--   question  text  question inside the rubric
--   judge  text  `engine` or `llm:<model>`
--   variant  text  which walls were opened on purpose; null: none
--   judge_run_id  text  the scoring job
--   started_at  UTC  when it began
--   answer  text  lower case, without slashes (`N/A` is `na`)
--   n  count  verdicts with this answer
--   answered  count  verdicts with an answer to this question
--   games  count  games they are about
--   rate  0..1  n / answered
--   rate_low  0..1  95 % Wilson interval with the effective number of answers, rate (1 - rate) / (squared standard error clustered by game,
--     Liang and Zeger 1986), after Korn and Graubard (1998, Survey Methodology 24); that number is at most `answered`, and `games` where all
--     games are alike
--   rate_high  0..1  upper end
-- Reads: verdicts, judge_runs, intervals.
create or replace view answer_rates as

with given as (
    select
        v.rubric,
        v.rubric_hash,
        v.question,
        v.judge,
        v.variant,
        v.judge_run_id,
        v.episode_id,
        replace(lower(v.answer), '/', '') as answer,
        count(*) as n
    from verdicts as v
    where v.status = 'answered' and (v.variant is null or not starts_with(v.variant, 'probe:'))
    group by all
),

sizes as (
    select
        rubric,
        rubric_hash,
        question,
        judge,
        variant,
        judge_run_id,
        episode_id,
        sum(n) as answered
    from given
    group by all
),

jobs as (
    select
        rubric,
        rubric_hash,
        question,
        judge,
        variant,
        judge_run_id,
        sum(answered) as answered,
        sum(answered * answered) as answered_squared,
        count(*) as games
    from sizes
    group by all
),

used as (
    select distinct
        rubric,
        rubric_hash,
        question,
        judge,
        variant,
        answer
    from given
),

counted as (
    select
        given.judge_run_id,
        given.question,
        given.answer,
        sum(given.n) as n,
        sum(given.n * given.n) as n_squared,
        sum(given.n * sizes.answered) as n_by_answered
    from given
    inner join sizes
        on given.judge_run_id = sizes.judge_run_id
        and given.question = sizes.question
        and given.episode_id = sizes.episode_id
        and given.rubric_hash = sizes.rubric_hash
    group by all
),

measured as (
    select
        jobs.*,
        used.answer,
        coalesce(counted.n, 0) as n,
        coalesce(counted.n, 0) / jobs.answered as rate,
        greatest(0, coalesce(n_squared, 0) - 2 * rate * coalesce(n_by_answered, 0) + rate * rate * answered_squared)
        * games / nullif(games - 1, 0) / (jobs.answered * jobs.answered) as variance
    from jobs
    inner join used
        on jobs.rubric = used.rubric
        and jobs.rubric_hash = used.rubric_hash
        and jobs.question = used.question
        and jobs.judge = used.judge
        and jobs.variant is not distinct from used.variant
    left join counted
        on jobs.judge_run_id = counted.judge_run_id and jobs.question = counted.question and used.answer = counted.answer
),

effective as (
    select
        *,
        case when variance > 1e-15 then least(answered, rate * (1 - rate) / variance) else games end as trials
    from measured
)

select
    e.rubric,
    e.rubric_hash,
    e.question,
    e.judge,
    e.variant,
    e.judge_run_id,
    judge_runs.started_at,
    e.answer,
    e.n::bigint as n,
    e.answered::bigint as answered,
    e.games,
    e.rate,
    wilson_low(e.rate * e.trials, e.trials) as rate_low,
    wilson_high(e.rate * e.trials, e.trials) as rate_high
from effective as e
inner join judge_runs using (judge_run_id);
