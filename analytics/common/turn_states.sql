-- turn_states: the state before and after each turn, in a form in which equal states are equal texts.
-- One row is a turn.
--   episode_id    text    the game
--   turn          number  from 1
--   before_state  text    CRAFT: the stacks of the nine cells as JSON, without span records (they follow from the moves) and without cells
--                         whose name has a blank (the engine never looks at them); elsewhere the state as logged
--   after_state   text    the same after the turn
--   changed       flag    the two differ
-- Reads: turns, episodes.
create or replace view turn_states as

with stacks as (
    select
        turns.episode_id,
        turns.turn,
        case when benchmark = 'craft' then state_before ->> '$.stacks' else state_before end as before_raw,
        case when benchmark = 'craft' then state_after ->> '$.stacks' else state_after end as after_raw,
        benchmark = 'craft' as has_cells
    from turns
    inner join episodes using (episode_id)
),

-- a blank can only stand in a stray cell's name: the JSON is written without any
cleaned as (
    select
        episode_id,
        turn,
        case
            when has_cells and contains(before_raw, ' ') then regexp_replace(before_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g')
            else before_raw
        end as before_state,
        case
            when has_cells and contains(after_raw, ' ') then regexp_replace(after_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g')
            else after_raw
        end as after_state
    from stacks
)

select *, before_state <> after_state as changed from cleaned;
