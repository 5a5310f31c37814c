-- answer_rates: which share of its answers each scoring job gave to each answer; probes left out.
-- One row is (judge_run_id, question, answer), also with a count of 0 where another job of the same rubric, wording and judge gave that answer.
--   rubric  text  name of the rubric
--   rubric_hash  text  hash of its content: another wording is another question
--   question  text  question inside the rubric
--   judge  text  `engine` or `llm:<model>`
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   judge_run_id  text  the scoring job
--   started_at  UTC  when it began
--   answer  text  lower case, without slashes (`N/A` is `na`)
--   n  count  verdicts with this answer
--   answered  count  verdicts with an answer to this question
--   games  count  games they are about
--   rate  0..1  n / answered
--   rate_low  0..1  lower end of its 95 % interval over games (clustered_low); null below two games
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
        coalesce(counted.n, 0)::double as n,
        coalesce(counted.n_squared, 0)::double as n_squared,
        coalesce(counted.n_by_answered, 0)::double as n_by_answered
    from jobs
    inner join used
        on jobs.rubric = used.rubric
        and jobs.rubric_hash = used.rubric_hash
        and jobs.question = used.question
        and jobs.judge = used.judge
        and jobs.variant is not distinct from used.variant
    left join counted
        on jobs.judge_run_id = counted.judge_run_id and jobs.question = counted.question and used.answer = counted.answer
)

select
    m.rubric,
    m.rubric_hash,
    m.question,
    m.judge,
    m.variant,
    m.judge_run_id,
    judge_runs.started_at,
    m.answer,
    m.n::bigint as n,
    m.answered::bigint as answered,
    m.games,
    m.n / m.answered as rate,
    clustered_low(m.n, m.answered, m.games, m.n_squared, m.n_by_answered, m.answered_squared) as rate_low,
    clustered_high(m.n, m.answered, m.games, m.n_squared, m.n_by_answered, m.answered_squared) as rate_high
from measured as m
inner join judge_runs using (judge_run_id);
