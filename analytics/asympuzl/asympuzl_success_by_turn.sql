-- asympuzl_success_by_turn: share of AsymPuzl games that are solved in at most k turns.
-- One row is a configuration (both models, size, feedback mode, history length) and a turn k, from 1 to the longest limit of its games. Games
-- that were never solved stay in the denominator; games that are not complete are left out.
--   model_a  text  model of A
--   model_b  text  model of B
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   history_length  number  messages of each agent that are shown; null if the log does not say
--   k  turns  from 1
--   games  count  complete games
--   solved  count  games solved in at most k turns
--   success_pct  percent  100 * solved / games
--   ci95_low  percent  lower end of its 95 % Wilson interval
--   ci95_high  percent  upper end
-- Reads: asympuzl_games, intervals.
create or replace view asympuzl_success_by_turn as

with finished as (
    select *
    from asympuzl_games
    where complete
),

longest as (
    select model_a, model_b, size, feedback_mode, history_length, max(coalesce(max_turns, turns)) as turns
    from finished
    group by all
),

limits as (
    select * exclude (turns), unnest(range(1, turns + 1)) as k
    from longest
),

counted as (
    select
        limits.*,
        count(*) as games,
        count(*) filter (finished.solved and finished.solved_turn <= limits.k) as solved
    from limits
    inner join finished
        on limits.model_a = finished.model_a
        and limits.model_b = finished.model_b
        and limits.size = finished.size
        and limits.feedback_mode = finished.feedback_mode
        and limits.history_length is not distinct from finished.history_length
    group by all
)

select
    model_a,
    model_b,
    size,
    feedback_mode,
    history_length,
    k,
    games,
    solved,
    100.0 * solved / games as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high
from counted;
