-- outcomes: what became of the oracle's candidates on each turn.
-- One row is a turn, of any benchmark.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   team  JSON  object role -> model
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   outcome  text  clarify: somebody asked and nobody acted; no_move: nobody acted, or the reply could not be read; no_oracle: no candidate was listed; followed: what was
--                  tried is one of the candidates in every part (followed_full; where the benchmark has no such reading, the log's flag);
--                  not_followed: it is none of them
--   followed_full  flag  what was tried is literally a candidate; null without candidates, and where the benchmark has no such reading
--   followed_physical  flag  it does what a candidate does: CRAFT's large blocks may be named from either end; null likewise
--   followed_action_position_layer  flag  CRAFT: a candidate has its action, position and layer, whatever the block: what published logs
--                                         call followed; null likewise
--   accepted  flag  the engine carried out every action of the turn; null without one
--   undoes  flag  an action of the turn takes back earlier work; null without one
--   progress  0..1  after the turn
-- Report: outcomes, ordered by model, condition, task_id, episode_id, turn
-- Shows: benchmark, model, task_id, turn, outcome, accepted, progress
-- Reads: turn_outcomes, episodes, run_conditions.
create or replace view outcomes as

select
    turn_outcomes.episode_id,
    turn_outcomes.turn,
    episodes.benchmark,
    run_conditions.condition,
    episodes.model,
    episodes.team,
    episodes.task_id,
    episodes.level,
    turn_outcomes.* exclude (episode_id, turn)
from turn_outcomes
inner join episodes using (episode_id)
inner join run_conditions using (run_id);
