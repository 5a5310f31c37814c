-- failure_turns: the category each turn has in each taxonomy.
-- One row is a row of `failures`: (turn, agent, taxonomy, category).
--   episode_id  text  the game
--   turn  number  from 1
--   agent  text  whose failure; null for the team
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   level  text  the task's tier; null if the log does not say
--   task_id  text  the structure, puzzle, order or question
--   taxonomy  text  name of the taxonomy
--   category  text  category inside it
--   counted  flag  the turn belongs to the denominator of shares; false where there was no candidate or no attempt to classify
--   evidence  text  what the rule saw; null where the category says it all
-- Reads: failures, games.
create or replace view failure_turns as

select
    failures.episode_id,
    failures.turn,
    failures.agent,
    games.benchmark,
    games.condition,
    games.model,
    games.level,
    games.task_id,
    failures.taxonomy,
    failures.category,
    failures.category <> 'no_oracle_or_attempt' as counted,
    failures.evidence
from failures
inner join games using (episode_id);
