-- craft_run_conditions: the condition of each CRAFT run as one short text, written as the published folders are.
-- One row is a run of CRAFT; games that went on otherwise (`cotrace replay`) have none, and stand under their run's name.
--   run_id     text  the run
--   condition  text  provider group (if the folder says), oracle size and tools (`api/oracle5_no_tools`), and the start board after it unless it
--                    was empty; the number of the run is not in it, so that the runs of one condition are pooled as in the paper; null where
--                    the log does not say its condition
-- Reads: runs.
create or replace view craft_run_conditions as

with parts as (
    select
        run_id,
        regexp_extract(name, '^((?:api|local)/(?:oracle\d+|no_oracle)_(?:no_)?tools)_run\d+', 1) as folder,
        case try_cast(condition ->> 'use_oracle' as boolean)
            when true then 'oracle' || (condition ->> 'num_oracle')
            when false then 'no_oracle'
        end
            || case try_cast(condition ->> 'builder_tool_use' as boolean) when true then '_tools' when false then '_no_tools' end as built,
        coalesce('_' || nullif(condition ->> 'start_board', 'empty'), '') as start_board
    from runs
    where benchmark = 'craft' and (condition -> 'continued') is null
)

select run_id, case when folder <> '' then folder || start_board else built || start_board end as condition
from parts;
