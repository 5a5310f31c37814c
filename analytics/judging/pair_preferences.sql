-- pair_preferences: which of two games a judge prefers, asked in both orders.
-- One row is (rubric, question, judge, variant, repeat, episode_a, episode_b), the episode whose id comes first being a.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   judge  text  `engine` or `llm:<model>`
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   repeat  number  from 1
--   episode_a  text  one game
--   episode_b  text  the other
--   model_a  text  evaluated model of a
--   model_b  text  evaluated model of b
--   score_a_first  0..1  the score of a when a was shown first; null if there is none
--   score_a_second  0..1  the score of a when b was shown first: 1 minus the score of b; null if there is none
--   score_a  0..1  mean of both orders, free of a liking for a place; null unless both are there
--   consistent  flag  both orders prefer the same game, or neither prefers one; null unless both are there
--   leans_first  number  (score of whoever was shown first, mean over both orders) - 0.5: above 0, the first place is liked; null likewise
-- Report: pairs, ordered by rubric, question, judge, variant, episode_a, episode_b, repeat
-- Shows: question, judge, episode_a, episode_b, score_a, consistent
-- Reads: verdicts_latest, episodes.
create or replace view pair_preferences as

with placed as (
    select
        rubric,
        question,
        judge,
        variant,
        repeat,
        least(split_part(unit_id, ' vs ', 1), split_part(unit_id, ' vs ', 2)) as episode_a,
        greatest(split_part(unit_id, ' vs ', 1), split_part(unit_id, ' vs ', 2)) as episode_b,
        unit_id,
        score
    from verdicts_latest
    where contains(unit_id, ' vs ')
),

both_orders as (
    select
        rubric,
        question,
        judge,
        variant,
        repeat,
        episode_a,
        episode_b,
        max(score) filter (starts_with(unit_id, episode_a || ' vs ')) as score_a_first,
        1 - max(score) filter (starts_with(unit_id, episode_b || ' vs ')) as score_a_second
    from placed
    group by all
)

select
    both_orders.rubric,
    both_orders.question,
    both_orders.judge,
    both_orders.variant,
    both_orders.repeat,
    both_orders.episode_a,
    both_orders.episode_b,
    a.model as model_a,
    b.model as model_b,
    both_orders.score_a_first,
    both_orders.score_a_second,
    (both_orders.score_a_first + both_orders.score_a_second) / 2 as score_a,
    sign(both_orders.score_a_first - 0.5) = sign(both_orders.score_a_second - 0.5) as consistent,
    (both_orders.score_a_first - both_orders.score_a_second) / 2 as leans_first
from both_orders
inner join episodes as a on both_orders.episode_a = a.episode_id
inner join episodes as b on both_orders.episode_b = b.episode_id;
