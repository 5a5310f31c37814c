-- correction_spirals: stretches of turns spent on correcting without getting anywhere (definition and examples: docs/spirals.md).
-- One row is a maximal stretch of one kind in one game; stretches of different kinds may overlap.
--   episode_id  text  the game
--   start_turn  number  first turn of the stretch
--   end_turn  number  last turn of the stretch
--   kind  text  repeated_failure, undo_loop, over_removal or stall
--   turns_wasted  turns  turns of the stretch after which progress was not above progress_start; null if the log measures none
--   evidence  text  what makes it one: the turns and actions concerned
--   turns  turns  length of the stretch
--   progress_start  0..1  progress before the first turn of the stretch
--   progress_end  0..1  progress after its last turn
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model of the game
--   level  text  the task's tier; null if the log does not say
--   task_id  text  the structure, puzzle, order or question
-- Report: spirals, ordered by turns_wasted desc, model, task_id, episode_id, start_turn, kind
-- Shows: model, task_id, start_turn, end_turn, kind, turns_wasted, evidence
-- Reads: game_spirals, games.
create or replace view correction_spirals as

select
    game_spirals.*,
    games.benchmark,
    games.condition,
    games.model,
    games.level,
    games.task_id
from game_spirals
inner join games using (episode_id);
