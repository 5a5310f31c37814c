-- values_overcooked: what each step of Collab-Overcooked games cost at least (docs/values.md).
-- One row is a step, that is a turn.
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model, or both joined by +
--   level  number  of the order
--   task_id  text  the order
--   episode_id  text  the game
--   turn  number  from 1; the log's timestep and one
--   turns_left  steps  steps left before it, its own included, within the game's limit; null if the log does not say the limit
--   left_before  steps  steps to the delivery, at least
--   left_after  steps  the same after the step
--   cost  steps  1 + left_after - left_before
--   lost_after  flag  what is left takes longer than the game lasts, for certain; null if the log does not say the limit
-- Reads: episodes, run_conditions, turn_values.
create or replace view values_overcooked as

select
    run_conditions.condition,
    episodes.model,
    try_cast(episodes.level as bigint) as level,
    episodes.task_id,
    turn_values.episode_id,
    turn_values.turn,
    greatest(episodes.max_turns - turn_values.turn + 1, 0) as turns_left,
    turn_values.value_before as left_before,
    turn_values.value_after as left_after,
    turn_values.cost,
    turn_values.turn + turn_values.value_after > episodes.max_turns as lost_after
from turn_values
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
where turn_values.measure = 'overcooked.time_left';
