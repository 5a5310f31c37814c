-- compared_turns: each turn with its team, its task, what became of it and what it gained: what models of turns are made from.
-- One row is a turn of a game that ended; a game that the store has twice stands here once.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   team_name  text  the team in short, as in team_names
--   task  text  the task by what it is, as in compared_games
--   game  text  the game, as in compared_games; null where a benchmark has one
--   step  text  refused: the engine refused an action of the turn; followed, not_followed, clarify, no_move as in outcomes; accepted: carried
--               out where no candidates were listed
--   followed  0..1  1: a candidate was tried, 0: something else was; null without candidates or without a move
--   accepted  0..1  1: the engine carried out every action, 0: not; null without one
--   undoes  0..1  1: an action takes back earlier work, 0: none does; null without one
--   words  number  words of the turn's public messages, mean over messages; null without one
--   progress  0..1  after the turn; null if the log measures none
--   gain  -1..1  progress after the turn minus progress before it; null where either is
-- Reads: compared_steps, utterances.
create or replace view compared_turns as

with spoken as (
    select episode_id, turn, avg(len(regexp_extract_all(text, '\S+'))) as words
    from utterances
    where channel = 'public' and not superseded
    group by all
)

select compared_steps.* exclude (progress, gain), spoken.words, compared_steps.progress, compared_steps.gain
from compared_steps
left join spoken using (episode_id, turn);
