-- overcooked_levels: what the published conversion script gives: unweighted means of overcooked_statistics over the orders of a level.
-- One row is (policy, level). `time_avg` is too low by design where an order had no success: it enters as 0.
--   model  text  the policy
--   level  text  level_1 to level_6
-- Columns as in: overcooked_statistics.
-- Report: overcooked, ordered by model, level
-- Shows: model, level, success_rate, time_avg, initiate_collaboration, respond_collaboration
-- Reads: overcooked_statistics, overcooked_games.
create or replace view overcooked_levels as

with levels as (
    select distinct "order", 'level_' || level as level
    from overcooked_games
)

select avg(columns(* exclude (model, "order", level))) as "\0", model, level
from overcooked_statistics
inner join levels using ("order")
group by model, level;
