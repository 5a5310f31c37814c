-- craft_turn_costs: the part of turn_costs that is about CRAFT.
-- One row is a turn.
--   episode_id  text  the game
--   turn  number  from 1
--   measure  text  the benchmark's main measure, as in turn_values
--   value_before  number  what the position before the turn was worth, in `unit`
--   value_after  number  what the position after the turn is worth, in `unit`
--   cost  number  what the turn lost, in `unit`; null where nothing was left to lose
--   unit  text  progress
--   kind  text  exact or bound
--   lost_before  flag  it could not be reached before the turn either
--   lost  flag  success can no more be reached after the turn: what is within reach is less than 0.95, at which games are completed
-- Reads: turn_values.
create or replace view craft_turn_costs as

select *, value_before < 0.95 as lost_before, value_after < 0.95 as lost
from turn_values
where measure = 'craft.reachable';
