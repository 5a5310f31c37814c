-- turn_states: the state before and after each turn, in a form in which equal states are equal texts.
-- One row is a turn.
--   episode_id    text    the game
--   turn          number  from 1
--   before_state  text    as the turn's family writes it (craft_turn_states), else the state as logged; null where the log has no states
--   after_state   text    the same after the turn
--   changed       flag    the two differ; null where either is
-- Reads: turns, every family's turn_states.
create or replace view turn_states as

with states as (
    select
        turns.episode_id,
        turns.turn,
        coalesce(written.before_state, turns.state_before ->> '$') as before_state,
        coalesce(written.after_state, turns.state_after ->> '$') as after_state
    from turns
    left join every_family('turn_states') as written using (episode_id, turn)
)

select *, before_state <> after_state as changed from states;
