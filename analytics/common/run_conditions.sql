-- run_conditions: the condition of each run as one short text.
-- One row is a run.
--   run_id     text  the run
--   benchmark  text  its benchmark
--   condition  text  as the run's family writes it (craft_run_conditions), and the run's name where it does not say
-- Reads: runs, every family's run_conditions.
create or replace view run_conditions as

select runs.run_id, runs.benchmark, coalesce(written.condition, runs.name) as condition
from runs
left join every_family('run_conditions') as written using (run_id);
