-- craft_turn_states: the boards before and after each turn of CRAFT, in a form in which equal boards are equal texts.
-- One row is a turn of CRAFT.
--   episode_id    text    the game
--   turn          number  from 1
--   before_state  text    the stacks of the nine cells as JSON, without span records (they follow from the moves) and without cells
--                         whose name has a blank (the engine never looks at them)
--   after_state   text    the same after the turn
-- Reads: turns, episodes.
create or replace view craft_turn_states as

with stacks as (
    select
        turns.episode_id,
        turns.turn,
        state_before ->> '$.stacks' as before_raw,
        state_after ->> '$.stacks' as after_raw
    from turns
    inner join episodes using (episode_id)
    where benchmark = 'craft'
)

-- a blank can only stand in a stray cell's name: the JSON is written without any
select
    episode_id,
    turn,
    case when contains(before_raw, ' ') then regexp_replace(before_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g') else before_raw end as before_state,
    case when contains(after_raw, ' ') then regexp_replace(after_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g') else after_raw end as after_state
from stacks;
