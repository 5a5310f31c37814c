-- overcooked_events: conversations that the Chef opened on its own turn, measured as the published evaluation does.
-- One row is a conversation of a game as logged.
--   policy  text  the team as the log names it, as `episodes.model` (published logs: the folder above the order's)
--   order  text  what is cooked
--   file  text  path relative to the folder given to `cotrace ingest`
--   event  number  which conversation of the game, from 0
--   timestamp  steps  when, from 0
--   begin_agent  number  who opened it: 0 Chef, 1 Assistant
--   history  text  JSON list: what the partner had recorded by then
--   request_action  text  JSON list: what the opener's plans request of the partner
--   plan_action  text  JSON list: what the partner's first plan says it will do
--   c_1  -1..1  by how much the request would raise the partner's tes
--   c_2  -1..1  tes with the request less tes with the answer
--   c_3  -1..1  by how much the answer would raise the partner's tes
--   initiate_ok  number  1: c_1 is above 0, else 0
--   respond_ok  number  1: c_3 is above 0, else 0
--   process_code  number  0 both right, 1 only the request, 2 only the answer, 3 none
-- Reads: episodes.
create or replace view overcooked_events as

with listed as (
    select
        model as policy,
        task_id,
        file,
        unnest(json_extract(details, '$.events.raw[*]')) as conversation,
        generate_subscripts(json_extract(details, '$.events.raw[*]'), 1) - 1 as event
    from episodes
    where benchmark = 'overcooked'
)

select
    policy,
    task_id as "order",
    file,
    event,
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
