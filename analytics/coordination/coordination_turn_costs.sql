-- coordination_turn_costs: the part of turn_costs that is about LLM-Coordination.
-- One row is a turn.
--   episode_id  text  the game
--   turn  number  from 1
--   measure  text  the benchmark's main measure, as in turn_values
--   value_before  number  what the position before the turn was worth, in `unit`
--   value_after  number  what the position after the turn is worth, in `unit`
--   cost  number  what the turn lost, in `unit`; null where nothing was left to lose
--   unit  text  points, turns or probability
--   kind  text  exact or bound
--   lost_before  flag  it could not be reached before the turn either
--   lost  flag  success can no more be reached after the turn: all lives gone, no time left for the capture, or dead
-- Reads: turn_values, episodes, turn_metrics.
create or replace view coordination_turn_costs as

with ends as (
    select episode_id, turn, false as over_before, value = 0 as over
    from turn_metrics
    where metric = 'coordination.hanabi_lives'
    union all
    select
        turn_values.episode_id,
        turn_values.turn,
        turn_values.turn - 1 + turn_values.value_before > episodes.max_turns,
        turn_values.turn + turn_values.value_after > episodes.max_turns
    from turn_values
    inner join episodes using (episode_id)
    where turn_values.measure = 'coordination.capture_turns'
    union all
    select episode_id, turn, false, value_after = 0
    from turn_values
    where measure = 'coordination.escape_luck'
)

select turn_values.*, ends.over_before as lost_before, ends.over as lost
from turn_values
left join ends using (episode_id, turn)
where turn_values.measure in ('coordination.hanabi_bound', 'coordination.capture_turns', 'coordination.escape_chance');
