-- overcooked_collaborations: every conversation of Collab-Overcooked games, with where in the task it took place and why it went wrong.
-- One row is a conversation, of either opener.
--   episode_id  text  the game
--   turn  number  from 1
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   level  text  1 to 6
--   task_id  text  the order
--   opener  text  Chef or Assistant
--   ites_initiate  -1..1  by how much the request would raise the partner's trajectory score
--   ites_respond  -1..1  by how much the answer would
--   initiate_ok  flag  the request would raise it
--   respond_ok  flag  the answer would raise it
--   initiating  text  category of the request (docs/overcooked.md)
--   responding  text  category of the answer
--   progress_before  0..1  progress of the game before the turn
--   position  number  quarter of the task, 1 to 4, by progress_before
-- Reads: turn_metrics, episodes, run_conditions, failures, turns.
create or replace view overcooked_collaborations as

with increments as (
    select
        episode_id,
        turn,
        case when ends_with(metric, '_chef') then 'Chef' else 'Assistant' end as opener,
        max(value) filter (starts_with(metric, 'overcooked.ites_initiate')) as ites_initiate,
        max(value) filter (starts_with(metric, 'overcooked.ites_respond')) as ites_respond
    from turn_metrics
    where starts_with(metric, 'overcooked.ites_')
    group by all
)

select
    increments.episode_id,
    increments.turn,
    run_conditions.condition,
    episodes.model,
    episodes.level,
    episodes.task_id,
    increments.opener,
    increments.ites_initiate,
    increments.ites_respond,
    increments.ites_initiate > 0 as initiate_ok,
    increments.ites_respond > 0 as respond_ok,
    asked.category as initiating,
    answered.category as responding,
    coalesce(earlier.progress, 0) as progress_before,
    least(4, 1 + floor(4 * coalesce(earlier.progress, 0)))::integer as position
from increments
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
left join failures as asked
    on increments.episode_id = asked.episode_id
    and increments.turn = asked.turn
    and asked.taxonomy = 'overcooked_initiating'
    and increments.opener = asked.agent
left join failures as answered
    on increments.episode_id = answered.episode_id
    and increments.turn = answered.turn
    and answered.taxonomy = 'overcooked_responding'
    and increments.opener <> answered.agent
left join turns as earlier
    on increments.episode_id = earlier.episode_id and increments.turn = earlier.turn + 1;
