-- games: each game with its condition: what reports and pages filter on.
-- One row is a game, of any benchmark; one that several logs tell stands here once (repeated_episodes).
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
--   ending  text  ended; not_set_up: it broke before its first turn; cut: its end is not known, because it runs, was cut, turns of it are
--                 lost, or the log does not say. Only games that ended are in rates of success and means of scores
--   score  number  the benchmark's main end-to-end metric; null unless the game ended, and where the log has none
--   success  flag  the goal was reached; null unless the game ended, and where the log does not say
--   stop_reason  text  why the game ended, as logged; null if not logged
--   error  text  what broke the game; null if nothing did
--   file  text  path relative to the folder given to `cotrace ingest`
-- Reads: episodes, repeated_episodes, run_conditions.
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
    case
        when episodes.score is not null or episodes.success is not null then 'ended'
        when episodes.turns_taken = 0 and (episodes.error is not null or episodes.goal is null) then 'not_set_up'
        else 'cut'
    end as ending,
    episodes.score,
    episodes.success,
    episodes.stop_reason,
    episodes.error,
    episodes.file
from episodes
anti join repeated_episodes using (episode_id)
inner join run_conditions using (run_id);
