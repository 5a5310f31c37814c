-- run_conditions: the condition of each run as one short text.
-- One row is a run.
--   run_id     text  the run
--   benchmark  text  its benchmark
--   condition  text  CRAFT: provider group (if the folder says), oracle size, tools and run, written as the published folders are
--                    (`api/oracle5_no_tools_run3`), and the start board after it unless it was empty; elsewhere, and where a CRAFT log
--                    does not say its condition, the run's name
-- Reads: runs.
create or replace view run_conditions as

with parts as (
    select
        run_id,
        benchmark,
        name,
        regexp_extract(name, '^(?:api|local)/(?:oracle\d+|no_oracle)_(?:no_)?tools_run\d+') as folder,
        case try_cast(condition ->> 'use_oracle' as boolean)
            when true then 'oracle' || (condition ->> 'num_oracle')
            when false then 'no_oracle'
        end
            || case try_cast(condition ->> 'builder_tool_use' as boolean) when true then '_tools' when false then '_no_tools' end
            || '_run' || (condition ->> 'run') as built,
        coalesce('_' || nullif(condition ->> 'start_board', 'empty'), '') as start_board
    from runs
)

select
    run_id,
    benchmark,
    case
        when benchmark <> 'craft' then name
        when folder <> '' then folder || start_board
        else coalesce(built || start_board, name)
    end as condition
from parts;
