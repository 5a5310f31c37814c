-- panel: what the model judges together say of a unit: majority, mean, and how much they split.
-- One row is (rubric, question, variant, unit_id) with at least one answer of a model. Every model has one vote, which its repeats share: asking
-- one model oftener gives it no more weight. The engine has none.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   unit_id  text  what was judged
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose utterance or turn; null for a group
--   judges  count  models that answered
--   answers  count  answers of all models and repeats
--   votes  text  each answer with its votes, the most frequent first
--   majority  text  the answer with the most votes, lower case, without slashes; null if two have equally many
--   majority_share  0..1  its votes / judges; of the leading answers if they tie
--   score_mean  0..1  mean over models of the mean of their scored answers; null if there is none
--   entropy  number  bits of the votes' distribution (Shannon 1948): 0 if all agree, log2 of the number of answers at most
--   split  text  none; judges: each model agrees with itself over its repeats but not with the others; repeats: a model disagrees with itself
-- Report: panel, ordered by rubric, question, variant, unit_id
-- Shows: question, unit_id, judges, votes, majority, entropy
-- Reads: verdicts_latest.
create or replace view panel as

with asked as (
    select
        rubric,
        question,
        variant,
        unit_id,
        episode_id,
        turn,
        agent,
        judge,
        score,
        replace(lower(answer), '/', '') as plain
    from verdicts_latest
    where status = 'answered' and starts_with(judge, 'llm:')
),

shared as (
    select *, 1 / count(*) over (partition by rubric, question, variant, unit_id, judge) as vote
    from asked
),

counted as (
    select
        rubric,
        question,
        variant,
        unit_id,
        plain,
        round(sum(vote), 6) as n
    from shared
    group by all
),

voted as (
    select
        rubric,
        question,
        variant,
        unit_id,
        string_agg(plain || ' ' || printf('%g', round(n, 2)), ', ' order by n desc, plain) as votes,
        sum(n) as total,
        max(n) as most,
        count(*) as different,
        log2(sum(n)) - sum(n * log2(n)) / sum(n) as entropy,
        list(n) as numbers,
        arg_max(plain, n) as leading
    from counted
    group by all
),

by_judge as (
    select
        rubric,
        question,
        variant,
        unit_id,
        judge,
        count(distinct plain) as own,
        count(*) as answers,
        avg(score) as score,
        any_value(episode_id) as episode_id,
        any_value(turn) as turn,
        any_value(agent) as agent
    from asked
    group by all
),

together as (
    select
        rubric,
        question,
        variant,
        unit_id,
        any_value(episode_id) as episode_id,
        any_value(turn) as turn,
        any_value(agent) as agent,
        count(*) as judges,
        sum(answers)::bigint as answers,
        avg(score) as score_mean,
        max(own) = 1 as is_steady
    from by_judge
    group by all
)

select
    t.rubric,
    t.question,
    t.variant,
    t.unit_id,
    t.episode_id,
    t.turn,
    t.agent,
    t.judges,
    t.answers,
    v.votes,
    case when len(list_filter(v.numbers, lambda n: n = v.most)) = 1 then v.leading end as majority,
    v.most / v.total as majority_share,
    t.score_mean,
    greatest(v.entropy, 0) as entropy,
    case when v.different = 1 then 'none' when t.is_steady then 'judges' else 'repeats' end as split
from together as t
inner join voted as v
    on t.rubric = v.rubric and t.question = v.question and t.unit_id = v.unit_id and t.variant is not distinct from v.variant;
