-- values_escape: what each turn of CollabEscape games cost, with the columns of the reference table.
-- One row is a turn of a CollabEscape game.
--   episode  text  what the log calls the game
--   turn  number  from 1
--   policy_alice  text  who stands behind Alice; null if the log does not say
--   policy_bob  text  who stands behind Bob; null if the log does not say
--   killer_known  flag  the players knew where the killer would go
--   p_before  0..1  largest probability of escape within 40 turns of the game
--   p_action  0..1  the same after the players' choice, before the killer's draw
--   p_after  0..1  the same after the draw
--   loss  0..1  p_before - p_action: what the choice lost
--   luck  -1..1  p_after - p_action: what the draw brought
--   e_before  turns  least expected turns to the escape among plans that escape surely
--   e_action  turns  the same after the choice, the turn itself included; inf if a draw is death
--   e_after  turns  the same after the draw
--   cost  turns  e_action - e_before
--   d_best_before  turns  least turns with luck
--   d_best_after  turns  the same after the turn
--   d_sure_before  turns  least turns against the worst draws
--   d_sure_after  turns  the same after the turn
--   mark  text  exact; two_readings where the two readings of whom the killer has seen differ in value
-- Reads: episodes, turns, turn_values, coordination_repeated_episodes.
create or replace view values_escape as

with measured as (
    select
        episode_id,
        turn,
        max(value_before) filter (measure = 'coordination.escape_chance') as p_before,
        max(value_after) filter (measure = 'coordination.escape_chance') as p_action,
        max(value_after) filter (measure = 'coordination.escape_luck') as p_after,
        max(value_before) filter (measure = 'coordination.escape_turns') as e_before,
        max(value_after) filter (measure = 'coordination.escape_turns') as e_action,
        max(value_after) filter (measure = 'coordination.escape_turns_after') as e_after,
        max(value_before) filter (measure = 'coordination.escape_best') as d_best_before,
        max(value_after) filter (measure = 'coordination.escape_best') as d_best_after,
        max(value_before) filter (measure = 'coordination.escape_sure') as d_sure_before,
        max(value_after) filter (measure = 'coordination.escape_sure') as d_sure_after,
        bool_and(kind = 'exact') as exact
    from turn_values
    where starts_with(measure, 'coordination.escape_')
    group by all
)

select
    episodes.details ->> 'episode' as episode,
    measured.turn,
    episodes.team ->> 'alice' as policy_alice,
    episodes.team ->> 'bob' as policy_bob,
    (turns.state_before ->> 'adversary_target' is not null)::int as killer_known,
    measured.p_before,
    measured.p_action,
    measured.p_after,
    measured.p_before - measured.p_action as loss,
    measured.p_after - measured.p_action as luck,
    measured.e_before,
    measured.e_action,
    measured.e_after,
    measured.e_action - measured.e_before as cost,
    measured.d_best_before,
    measured.d_best_after,
    measured.d_sure_before,
    measured.d_sure_after,
    case when measured.exact then 'exact' else 'two_readings' end as mark
from measured
inner join episodes using (episode_id)
inner join turns using (episode_id, turn)
anti join coordination_repeated_episodes using (episode_id);
