-- games: each game with its condition: what reports and pages filter on.
-- One row is a game, of any benchmark.
--   episode_id  text  the game
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   builder  text  the builder's model; null where the team has no builder
--   team  JSON  object role -> model
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   seed  number  seed or run index; null if the log has none
--   turns_taken  turns  turns recorded
--   score  number  the benchmark's main end-to-end metric; null if the game could not be set up
--   success  flag  the goal was reached; null if the game could not be set up
--   stop_reason  text  why the game ended, as logged; null if not logged
--   error  text  what broke the game; null if nothing did
--   file  text  path relative to the folder given to `cotrace ingest`
-- Reads: episodes, run_conditions.
create or replace view games as

select
    episodes.episode_id,
    episodes.benchmark,
    run_conditions.condition,
    episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.team,
    episodes.task_id,
    episodes.level,
    episodes.seed,
    episodes.turns_taken,
    episodes.score,
    episodes.success,
    episodes.stop_reason,
    episodes.error,
    episodes.file
from episodes
inner join run_conditions using (run_id);
