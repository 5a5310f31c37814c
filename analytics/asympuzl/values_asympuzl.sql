-- values_asympuzl: what each turn of AsymPuzl games cost (docs/values.md).
-- One row is a turn of both agents, or of A alone where the log ends in the middle.
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model, or both joined by +
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   seed  number  of the puzzle; null if the log has none
--   episode_id  text  the game
--   turn  number  from 1
--   turns_left  turns  turns left before it, its own included; null if the log does not say the limit
--   hands_before  turns  fewest turns to the end for players who know everything
--   hands_after  turns  the same after the turn
--   cost  turns  1 + hands_after - hands_before: turns lost against perfect hands
--   know_before  turns  fewest turns to the end for players who know what they were told
--   know_after  turns  the same after the turn
--   know_cost  turns  1 + know_after - know_before: turns lost against the best the team could do; less than 0 only by luck
--   known_a_before  count  positions that A has right or could set right by what it was told
--   known_a_after  count  the same after the turn
--   known_b_before  count  positions that B has right or could set right by what it was told
--   known_b_after  count  the same after the turn
--   lost_after  flag  what is left takes longer than the game lasts; null if the log does not say the limit
-- Reads: episodes, run_conditions, runs, turn_values.
create or replace view values_asympuzl as

with measured as (
    select
        episode_id,
        turn,
        max(value_before) filter (measure = 'asympuzl.hands') as hands_before,
        max(value_after) filter (measure = 'asympuzl.hands') as hands_after,
        max(cost) filter (measure = 'asympuzl.hands') as cost,
        max(value_before) filter (measure = 'asympuzl.know') as know_before,
        max(value_after) filter (measure = 'asympuzl.know') as know_after,
        max(cost) filter (measure = 'asympuzl.know') as know_cost,
        max(value_before) filter (measure = 'asympuzl.known_a') as known_a_before,
        max(value_after) filter (measure = 'asympuzl.known_a') as known_a_after,
        max(value_before) filter (measure = 'asympuzl.known_b') as known_b_before,
        max(value_after) filter (measure = 'asympuzl.known_b') as known_b_after
    from turn_values
    where starts_with(measure, 'asympuzl.')
    group by all
)

select
    run_conditions.condition,
    episodes.model,
    (runs.condition ->> 'size')::bigint as size,
    runs.condition ->> 'feedback_mode' as feedback_mode,
    episodes.seed,
    measured.episode_id,
    measured.turn,
    greatest(episodes.max_turns - measured.turn + 1, 0) as turns_left,
    measured.* exclude (episode_id, turn, known_a_before, known_a_after, known_b_before, known_b_after),
    measured.known_a_before,
    measured.known_a_after,
    measured.known_b_before,
    measured.known_b_after,
    measured.turn + measured.know_after > episodes.max_turns as lost_after
from measured
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join run_conditions using (run_id);
