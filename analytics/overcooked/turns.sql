-- overcooked_events: conversations that the Chef opened on its own turn, measured as the published evaluation does.
-- One row is a conversation of a game as logged.
--   policy  text  the team as the log names it, as `episodes.model` (published logs: the folder above the order's)
--   order, file
--   event  number  which conversation of the game, from 0
--   timestamp  steps  when, from 0
--   begin_agent  number  who opened it: 0 Chef, 1 Assistant
--   history  text  JSON list: what the partner had recorded by then
--   request_action  text  JSON list: what the opener's plans request of the partner
--   plan_action  text  JSON list: the actions of the partner's first plan
--   c_1  -1..1  by how much the request would raise the partner's tes
--   c_2  -1..1  tes with the request less tes with the answer
--   c_3  -1..1  by how much the answer would raise the partner's tes
--   initiate_ok  number  1: c_1 is above 0, else 0
--   respond_ok  number  1: c_3 is above 0, else 0
--   process_code  number  0 both right, 1 only the request, 2 only the answer, 3 none
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
--   taxonomy, category, common, meaning, source
create or replace view overcooked_failure_map as
select *
from (values
        ('overcooked_initiating', 'correct', 'none', 'the request fits the next step', 'Collab-Overcooked, initiating collaboration'),
        ('overcooked_initiating', 'premature', 'no_progress', 'asks for a later step first', 'Collab-Overcooked, premature initiation'),
        ('overcooked_initiating', 'repetitive', 'redundant_talk', 'asks again for what is done', 'Collab-Overcooked, repetitive initiation'),
        ('overcooked_initiating', 'irrelevant', 'unhelpful_message', 'asks for what the task never needs', 'Collab-Overcooked, irrelevant collaboration'),
        ('overcooked_read', 'not_understood', 'none', 'a message that the rules of reading do not understand: nothing follows from it', 'games/overcooked/text/spoken.py'),
        ('overcooked_harness', 'lost_reply', 'harness', 'a call failed or its reply was cut, so there was no answer', 'cotrace, docs/attribution.md, harness'),
        ('overcooked_harness', 'dropped_wait', 'harness', 'a wait before other actions was dropped, and the next action tried too early', 'Collab-Overcooked formats section 5.3'),
        ('overcooked_harness', 'dropped_plan', 'harness', 'a later plan of the one who answers was not carried out', 'Collab-Overcooked formats section 6.1'),
        ('overcooked_initiating', 'infeasible', 'infeasible_action', 'asks for what the partner cannot do now', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_initiating', 'wrong_parameter', 'wrong_reference', 'right action, wrong object or place', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_initiating', 'no_request', 'unhelpful_message', 'contains nothing the partner could act on', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'correct', 'none', 'the response fits the request', 'Collab-Overcooked, responding to collaboration'),
        ('overcooked_responding', 'followed_wrong_request', 'wrong_inference', 'carries out a request that does not fit the task', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'refused', 'unanswered_request', 'does not act on a request', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'repetitive', 'no_progress', 'does again what is done', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'missing_step', 'no_progress', 'leaves a step of the request out', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'wrong_parameter', 'wrong_reference', 'right action, wrong object or place', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'infeasible', 'infeasible_action', 'tries what cannot be done now', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_engine', 'accepted', 'none', 'an action changed the world', 'Collab-Overcooked formats section 2.1, recorded actions'),
        ('overcooked_engine', 'format', 'format', 'analysis or plan cannot be read', 'Collab-Overcooked formats section 6.2, format errors'),
        ('overcooked_engine', 'P_FORMAT', 'format', 'the text is no action of the game', 'Collab-Overcooked formats section 6.2, code P_FORMAT'),
        ('overcooked_engine', 'P_PICKUP_ARITY', 'format', 'pickup without its two parameters', 'Collab-Overcooked formats section 6.2, code P_PICKUP_ARITY'),
        ('overcooked_engine', 'P_PUT', 'format', 'put_obj_in_utensil with wrong parameters', 'Collab-Overcooked formats section 6.2, code P_PUT'),
        ('overcooked_engine', 'P_FILL', 'format', 'fill_dish_with_food with wrong parameters', 'Collab-Overcooked formats section 6.2, code P_FILL'),
        ('overcooked_engine', 'P_WAIT', 'format', 'waits longer than is allowed', 'Collab-Overcooked formats section 6.2, code P_WAIT'),
        ('overcooked_engine', 'P_PICKUP_OBJ', 'wrong_reference', 'an object that the game does not have', 'Collab-Overcooked formats section 6.2, code P_PICKUP_OBJ'),
        ('overcooked_engine', 'P_PICKUP_PLACE', 'wrong_reference', 'a place that the game does not have', 'Collab-Overcooked formats section 6.2, code P_PICKUP_PLACE'),
        ('overcooked_engine', 'P_OP_UTENSIL', 'wrong_reference', 'the operation is of another utensil', 'Collab-Overcooked formats section 6.2, code P_OP_UTENSIL'),
        ('overcooked_engine', 'P_DISP_COOKED', 'wrong_reference', 'something made, wanted from a dispenser', 'Collab-Overcooked formats section 6.2, code P_DISP_COOKED'),
        ('overcooked_engine', 'P_DISH_SRC', 'wrong_reference', 'a dish, wanted from the wrong dispenser', 'Collab-Overcooked formats section 6.2, code P_DISH_SRC'),
        ('overcooked_engine', 'P_INGR_SRC', 'wrong_reference', 'an ingredient, wanted from the wrong dispenser', 'Collab-Overcooked formats section 6.2, code P_INGR_SRC'),
        ('overcooked_engine', 'V_CHEF_DISP', 'infeasible_action', 'the Chef wants something from a dispenser', 'Collab-Overcooked formats section 6.2, code V_CHEF_DISP'),
        ('overcooked_engine', 'V_REACH', 'infeasible_action', 'a place on the other side of the kitchen', 'Collab-Overcooked formats section 6.2, code V_REACH'),
        ('overcooked_engine', 'V_COOKING', 'infeasible_action', 'the utensil is running', 'Collab-Overcooked formats section 6.2, code V_COOKING'),
        ('overcooked_engine', 'V_READY_PUT', 'infeasible_action', 'puts something into a finished utensil', 'Collab-Overcooked formats section 6.2, code V_READY_PUT'),
        ('overcooked_engine', 'V_NEED_DISH', 'infeasible_action', 'takes the dish without a plate', 'Collab-Overcooked formats section 6.2, code V_NEED_DISH'),
        ('overcooked_engine', 'V_NO_COUNTER_ITEM', 'infeasible_action', 'the object lies on no counter', 'Collab-Overcooked formats section 6.2, code V_NO_COUNTER_ITEM'),
        ('overcooked_engine', 'V_HAND_FULL', 'infeasible_action', 'picks up with a full hand', 'Collab-Overcooked formats section 6.2, code V_HAND_FULL'),
        ('overcooked_engine', 'V_NOT_IN_UTENSIL', 'infeasible_action', 'the object is not in the utensil', 'Collab-Overcooked formats section 6.2, code V_NOT_IN_UTENSIL'),
        ('overcooked_engine', 'V_PUT_EMPTY', 'infeasible_action', 'puts with an empty hand', 'Collab-Overcooked formats section 6.2, code V_PUT_EMPTY'),
        ('overcooked_engine', 'V_PUT_DISH', 'infeasible_action', 'puts a dish into a utensil', 'Collab-Overcooked formats section 6.2, code V_PUT_DISH'),
        ('overcooked_engine', 'V_PLACE_EMPTY', 'infeasible_action', 'places with an empty hand', 'Collab-Overcooked formats section 6.2, code V_PLACE_EMPTY'),
        ('overcooked_engine', 'V_COUNTER_FULL', 'infeasible_action', 'no counter is empty', 'Collab-Overcooked formats section 6.2, code V_COUNTER_FULL'),
        ('overcooked_engine', 'V_FILL_NO_DISH', 'infeasible_action', 'fills without a dish', 'Collab-Overcooked formats section 6.2, code V_FILL_NO_DISH'),
        ('overcooked_engine', 'V_FILL_NOT_NEEDED', 'infeasible_action', 'fills a dish that the order does not need', 'Collab-Overcooked formats section 6.2, code V_FILL_NOT_NEEDED'),
        ('overcooked_engine', 'V_FILL_NOT_READY', 'infeasible_action', 'fills from a utensil that makes nothing', 'Collab-Overcooked formats section 6.2, code V_FILL_NOT_READY'),
        ('overcooked_engine', 'V_DELIVER_ITEM', 'infeasible_action', 'delivers what is no dish', 'Collab-Overcooked formats section 6.2, code V_DELIVER_ITEM'),
        ('overcooked_engine', 'V_DELIVER_EMPTY', 'infeasible_action', 'delivers with an empty hand', 'Collab-Overcooked formats section 6.2, code V_DELIVER_EMPTY'),
        ('overcooked_engine', 'V_OP_EMPTY', 'infeasible_action', 'starts an empty utensil', 'Collab-Overcooked formats section 6.2, code V_OP_EMPTY'),
        ('overcooked_engine', 'V_OP_BUSY', 'infeasible_action', 'starts a utensil that runs or is ready', 'Collab-Overcooked formats section 6.2, code V_OP_BUSY'),
        ('overcooked_engine', 'V_OP_HAND', 'infeasible_action', 'starts a utensil with a full hand', 'Collab-Overcooked formats section 6.2, code V_OP_HAND'),
        ('overcooked_engine', 'V_OTHER', 'infeasible_action', 'refused with a message that is not known', 'Collab-Overcooked formats section 6.2, validator errors'),
        ('overcooked_engine', 'wrong_synthesis', 'no_progress', 'contents that make nothing were started, and are lost', 'Collab-Overcooked formats section 1.1, contents that match no entry'),
        ('overcooked_initiating', 'missing_step', 'unhelpful_message', 'leaves out what the partner has to do on the way', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_initiating', 'next_step', 'unhelpful_message', 'the right next thing, together with too much else', 'Collab-Overcooked formats section 10, p = g[k]'),
        ('overcooked_responding', 'premature', 'no_progress', 'does a later step first', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'irrelevant', 'wrong_inference', 'does what the task never needs', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'excessive', 'no_progress', 'does more than pays', 'Collab-Overcooked formats section 7, event rules')
) as lines (taxonomy, category, common, meaning, source);

-- overcooked_turn_costs: the part of turn_costs that is about Collab-Overcooked.
-- One row is a turn.
--   episode_id, turn, measure, value_before, value_after, cost
--   unit  text  steps
--   kind, lost_before, lost
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
--   condition
--   model  text  the evaluated model, or both joined by +
--   level  number  of the order
--   task_id, episode_id
--   turn  number  from 1; the log's timestep and one
--   turns_left  steps  steps left before it, its own included, within the game's limit; null if the log does not record the limit
--   left_before  steps  steps to the delivery, at least
--   left_after  steps  the same after the step
--   cost  steps  1 + left_after - left_before
--   lost_after  flag  what is left takes longer than the game lasts, for certain; null if the log does not record the limit
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
