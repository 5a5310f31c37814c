-- panel: what the model judges together say of a unit: majority, mean, and how much they split.
-- One row is (rubric, question, variant, unit_id) with at least one answer of a model. Every repeat of every model is one vote; the engine has none.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   variant  text  which walls were opened on purpose; null: none
--   unit_id  text  what was judged
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose utterance or turn; null for a group
--   judges  count  models that answered
--   answers  count  votes: answers of all models and repeats
--   votes  text  each answer with its votes, the most frequent first
--   majority  text  the answer with the most votes, lower case, without slashes; null if two have equally many
--   majority_share  0..1  its votes / answers; of the leading answers if they tie
--   score_mean  0..1  mean of the scored votes; null if there is none
--   entropy  number  bits of the votes' distribution (Shannon 1948): 0 if all agree, log2 of the number of answers at most
--   split  text  none; judges: each model agrees with itself over its repeats but not with the others; repeats: a model disagrees with itself
-- Report: panel, ordered by rubric, question, variant, unit_id
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

counted as (
    select
        rubric,
        question,
        variant,
        unit_id,
        plain,
        count(*) as n
    from asked
    group by all
),

voted as (
    select
        rubric,
        question,
        variant,
        unit_id,
        string_agg(plain || ' ' || n, ', ' order by n desc, plain) as votes,
        max(n) as most,
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
        count(distinct plain) as own
    from asked
    group by all
),

steady as (
    select
        rubric,
        question,
        variant,
        unit_id,
        max(own) = 1 as is_steady
    from by_judge
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
        count(distinct judge) as judges,
        count(*) as answers,
        count(distinct plain) as different,
        avg(score) as score_mean,
        entropy(plain) as entropy
    from asked
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
    v.most / t.answers as majority_share,
    t.score_mean,
    t.entropy,
    case when t.different = 1 then 'none' when s.is_steady then 'judges' else 'repeats' end as split
from together as t
inner join voted as v
    on t.rubric = v.rubric and t.question = v.question and t.unit_id = v.unit_id and t.variant is not distinct from v.variant
inner join steady as s
    on t.rubric = s.rubric and t.question = s.question and t.unit_id = s.unit_id and t.variant is not distinct from s.variant;
