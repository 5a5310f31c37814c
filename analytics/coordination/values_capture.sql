-- values_capture: what each turn of CollabCapture games cost, with the columns of the reference table.
-- One row is a turn of a CollabCapture game.
--   episode  text  what the log calls the game
--   scenario  text  state of door 1-2, then of door 3-4, at the start
--   turn  number  from 1
--   policy_alice  text  who stands behind Alice; null if the log does not say
--   policy_bob  text  who stands behind Bob; null if the log does not say
--   d_before  turns  fewest turns to the capture, both players steered freely; inf if there is no way
--   d_after  turns  the same after the turn; 0 after the capture
--   cost  turns  1 + d_after - d_before; null where there was no way before
--   lost_after  flag  what is left takes longer than the game lasts
-- Reads: episodes, turn_values, coordination_repeated_episodes.
create or replace view values_capture as

select
    episodes.details ->> 'episode' as episode,
    episodes.task_id as scenario,
    turn_values.turn,
    episodes.team ->> 'alice' as policy_alice,
    episodes.team ->> 'bob' as policy_bob,
    turn_values.value_before as d_before,
    turn_values.value_after as d_after,
    turn_values.cost,
    (turn_values.turn + turn_values.value_after > episodes.max_turns)::int as lost_after
from turn_values
inner join episodes using (episode_id)
anti join coordination_repeated_episodes using (episode_id)
where turn_values.measure = 'coordination.capture_turns';
