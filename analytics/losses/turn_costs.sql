-- turn_costs: what each turn cost, by its benchmark's main measure (docs/values.md).
-- One row is a turn of a game that has values.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   builder  text  the builder's model; null where the team has no builder
--   team_name  text  the team in short, as in team_names
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   measure  text  the benchmark's main measure, as in turn_values
--   value_before  number  what the position before the turn was worth, in `unit`
--   value_after  number  what the position after the turn is worth, in `unit`
--   cost  number  what the turn lost, in `unit`; less than 0 where it gained, null where nothing was left to lose
--   unit  text  progress (0 to 1), steps, turns, points or probability
--   kind  text  exact or bound
--   lost_before  flag  success could not be reached before the turn either; null as `lost`
--   lost  flag  success can no more be reached after the turn; null if the log does not say how long the game lasts
-- Reads: games, team_names, every family's turn_costs.
create or replace view turn_costs as

select
    valued.episode_id,
    valued.turn,
    games.benchmark,
    games.condition,
    games.model,
    games.builder,
    team_names.team_name,
    games.task_id,
    games.level,
    valued.measure,
    valued.value_before,
    valued.value_after,
    valued.cost,
    valued.unit,
    valued.kind,
    valued.lost_before,
    valued.lost
from every_family('turn_costs') as valued
inner join games using (episode_id)
inner join team_names using (episode_id);
