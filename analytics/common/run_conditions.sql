-- run_conditions: the condition of each run as one short text.
-- One row is a run.
--   run_id     text  the run
--   benchmark  text  its benchmark
--   condition  text  as the run's family writes it (craft_run_conditions), else the run's name; and those of its switches in which runs that
--                    are called the same differ, as far as they come out of cotrace's own logs
-- Reads: runs, episodes, sources, every family's run_conditions.
create or replace view run_conditions as

with own as (
    select distinct run_id
    from episodes
    inner join sources using (source_id)
    where sources.format = 'cotrace'
),

called as (
    select
        runs.run_id,
        runs.benchmark,
        coalesce(written.condition, runs.name) as name,
        -- what does not part conditions that a family writes: repetitions are pooled, and turn limits are a column of their own
        case when written.condition is null then [] else ['run', 'max_turns', 'provider_group'] end as passed_over
    from runs
    left join every_family('run_conditions') as written using (run_id)
),

switches as (
    select
        called.run_id,
        called.benchmark,
        called.name,
        keys.switch,
        json_extract_string(runs.condition, '$."' || replace(keys.switch, '"', '') || '"') as value
    from called
    inner join own using (run_id)
    inner join runs using (run_id), unnest(json_keys(runs.condition)) as keys (switch)
    where json_type(runs.condition) = 'OBJECT' and not list_contains(called.passed_over, keys.switch)
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

select called.run_id, called.benchmark, concat_ws(': ', called.name, told.differences) as condition
from called
left join told using (run_id);
