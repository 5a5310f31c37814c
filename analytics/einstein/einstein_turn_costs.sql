-- einstein_turn_costs: the part of turn_costs that is about Einstein Puzzles.
-- One row is a turn.
--   episode_id  text  the game
--   turn  number  from 1
--   measure  text  the benchmark's main measure, as in turn_values
--   value_before  number  what the position before the turn was worth, in `unit`
--   value_after  number  what the position after the turn is worth, in `unit`
--   cost  number  what the turn lost, in `unit`; null where nothing was left to lose
--   unit  text  steps
--   kind  text  exact or bound
--   lost_before  flag  it could not be reached before the turn either
--   lost  flag  success can no more be reached after the turn: what is left takes longer than the game lasts, even for players who know everything
-- Reads: turn_values, episodes, runs.
create or replace view einstein_turn_costs as

with limits as (
    -- by the published rules a game that is solved in its last step counts as failed
    select episode_id, max_turns - (runs.condition ->> 'rules' = 'published')::int as last_step
    from episodes
    inner join runs using (run_id)
)

select
    known.*,
    known.turn - 1 + hands.value_before > limits.last_step as lost_before,
    known.turn + hands.value_after > limits.last_step as lost
from turn_values as known
inner join turn_values as hands
    on known.episode_id = hands.episode_id and known.turn = hands.turn and hands.measure = 'einstein.hands'
inner join limits on known.episode_id = limits.episode_id
where known.measure = 'einstein.know';
