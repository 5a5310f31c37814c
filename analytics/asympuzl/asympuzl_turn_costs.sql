-- asympuzl_turn_costs: the part of turn_costs that is about AsymPuzl.
-- One row is a turn.
--   episode_id  text  the game
--   turn  number  from 1
--   measure  text  the benchmark's main measure, as in turn_values
--   value_before  number  what the position before the turn was worth, in `unit`
--   value_after  number  what the position after the turn is worth, in `unit`
--   cost  number  what the turn lost, in `unit`; null where nothing was left to lose
--   unit  text  turns
--   kind  text  exact or bound
--   lost_before  flag  it could not be reached before the turn either
--   lost  flag  success can no more be reached after the turn: what is left takes longer than the game lasts; null if the log does not say how long that is
-- Reads: turn_values, episodes.
create or replace view asympuzl_turn_costs as

select
    turn_values.*,
    turn_values.turn - 1 + turn_values.value_before > episodes.max_turns as lost_before,
    turn_values.turn + turn_values.value_after > episodes.max_turns as lost
from turn_values
inner join episodes using (episode_id)
where turn_values.measure = 'asympuzl.know';
