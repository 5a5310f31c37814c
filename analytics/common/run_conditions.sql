-- run_conditions: the condition of each run as one short text.
-- One row is a run.
--   run_id     text  the run
--   benchmark  text  its benchmark
--   condition  text  as the run's family writes it (craft_run_conditions); where it does not say, the run's name and those of its switches
--                    in which runs of that name differ, as far as they come out of cotrace's own logs
-- Reads: runs, episodes, sources, every family's run_conditions.
create or replace view run_conditions as

with own as (
    select distinct run_id
    from episodes
    inner join sources using (source_id)
    where sources.format = 'cotrace'
),

switches as (
    select
        runs.run_id,
        runs.benchmark,
        runs.name,
        keys.switch,
        json_extract_string(runs.condition, '$."' || replace(keys.switch, '"', '') || '"') as value
    from runs
    inner join own using (run_id), unnest(json_keys(runs.condition)) as keys (switch)
    where json_type(runs.condition) = 'OBJECT'
),

differing as (
    select benchmark, name, switch
    from switches
    where not starts_with(coalesce(value, ''), '{')
    group by benchmark, name, switch
    having count(distinct coalesce(value, 'null')) > 1
),

told as (
    select run_id, string_agg(switch || ' ' || coalesce(value, 'none'), ', ' order by switch) as differences
    from switches
    inner join differing using (benchmark, name, switch)
    group by run_id
)

select runs.run_id, runs.benchmark, coalesce(written.condition, concat_ws(': ', runs.name, told.differences)) as condition
from runs
left join every_family('run_conditions') as written using (run_id)
left join told using (run_id);
