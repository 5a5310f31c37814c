-- turn_notes: what people wrote about turns, on the page of a game.
-- One row is a note.
--   note_id  text  its id
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark; null, as all about the game, while the game is not in the store
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   level  text  the task's tier; null if the log does not say
--   task_id  text  the structure, puzzle, order or question
--   author  text  who wrote it
--   note  text  as written
--   written_at  UTC  when
-- Report: notes, ordered by written_at, note_id
-- Shows: author, written_at, model, task_id, turn, note
-- Reads: notes, games.
create or replace view turn_notes as

select
    notes.note_id,
    notes.episode_id,
    notes.turn,
    games.benchmark,
    games.condition,
    games.model,
    games.level,
    games.task_id,
    notes.author,
    notes.text as note,
    notes.written_at
from notes
left join games using (episode_id);
