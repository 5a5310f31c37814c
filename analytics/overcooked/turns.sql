-- overcooked_events: conversations that the Chef opened on its own turn, measured as the published evaluation does.
-- One row is a conversation of a game as logged.
create or replace view overcooked_events as
with listed as (
    select
        model as policy,
        task_id, file,
        unnest(json_extract(details, '$.events.raw[*]')) as conversation,
        generate_subscripts(json_extract(details, '$.events.raw[*]'), 1) - 1 as event
    from episodes
    where benchmark = 'overcooked'
)

select
    policy,
    task_id as "order",
    file, event,
    (conversation ->> 'timestamp')::integer as timestamp,
    (conversation ->> 'begin_agent')::integer as begin_agent,
    replace(conversation ->> 'history', '","', '", "') as history,
    replace(conversation ->> 'request_action', '","', '", "') as request_action,
    replace(conversation ->> 'plan_action', '","', '", "') as plan_action,
    (conversation ->> 'c_1')::double as c_1,
    (conversation ->> 'c_2')::double as c_2,
    (conversation ->> 'c_3')::double as c_3,
    ((conversation ->> 'c_1')::double > 0)::integer as initiate_ok,
    ((conversation ->> 'c_3')::double > 0)::integer as respond_ok,
    (conversation ->> 'process_code')::integer as process_code
from listed;

-- overcooked_failure_map: the part of failure_map that is about Collab-Overcooked; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view overcooked_failure_map as
select * from rows_of('failure_map.csv');

-- overcooked_turn_costs: the part of turn_costs that is about Collab-Overcooked.
-- One row is a turn.
create or replace view overcooked_turn_costs as
select
    turn_values.*,
    turn_values.turn - 1 + turn_values.value_before > episodes.max_turns as lost_before,
    turn_values.turn + turn_values.value_after > episodes.max_turns as lost
from turn_values
inner join episodes using (episode_id)
where turn_values.measure = 'overcooked.time_left';

-- values_overcooked: what each step of Collab-Overcooked games cost at least (docs/values.md).
-- One row is a step, that is a turn.
create or replace view values_overcooked as
select
    run_conditions.condition, episodes.model,
    try_cast(episodes.level as bigint) as level,
    episodes.task_id, turn_values.episode_id, turn_values.turn,
    greatest(episodes.max_turns - turn_values.turn + 1, 0) as turns_left,
    turn_values.value_before as left_before,
    turn_values.value_after as left_after,
    turn_values.cost,
    turn_values.turn + turn_values.value_after > episodes.max_turns as lost_after
from turn_values
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
where turn_values.measure = 'overcooked.time_left';
