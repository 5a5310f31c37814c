-- asympuzl_failure_map: the part of failure_map that is about AsymPuzl; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view asympuzl_failure_map as
select * from rows_of('failure_map.csv');

-- asympuzl_turn_costs: the part of turn_costs that is about AsymPuzl.
-- One row is a turn.
create or replace view asympuzl_turn_costs as
select
    turn_values.*,
    turn_values.turn - 1 + turn_values.value_before > episodes.max_turns as lost_before,
    turn_values.turn + turn_values.value_after > episodes.max_turns as lost
from turn_values
inner join episodes using (episode_id)
where turn_values.measure = 'asympuzl.know';

-- asympuzl_turns: AsymPuzl turns, agent by agent.
-- One row is an agent's turn.
create or replace view asympuzl_turns as
-- a metric of an agent's turn is called asympuzl.<name>_a or asympuzl.<name>_b
with named as (
    select
        episode_id, turn,
        upper(right(metric, 1)) as agent,
        metric[length('asympuzl.') + 1:-3] as name,
        value
    from turn_metrics
    where starts_with(metric, 'asympuzl.') and right(metric, 2) in ('_a', '_b')
),

measured as (
    select
        episode_id, turn, agent,
        max(value) filter (name = 'parse_ok') = 1 as parse_ok,
        max(value) filter (name = 'parse_strict') = 1 as parse_strict,
        max(value) filter (name = 'repeated_message') = 1 as repeated_message,
        max(value) filter (name = 'sufficient_message') = 1 as sufficient_message,
        max(value) filter (name = 'writes')::bigint as writes,
        max(value) filter (name = 'changes')::bigint as changes,
        max(value) filter (name = 'invalid_actions')::bigint as invalid_actions,
        max(value) filter (name = 'overcorrections')::bigint as overcorrections,
        max(value) filter (name = 'wrong_positions')::bigint as wrong_positions,
        max(value) filter (name = 'output_tokens')::bigint as output_tokens,
        max(value) filter (name = 'message_tokens')::bigint as message_tokens
    from named
    group by all
),

undone as (
    select episode_id, turn, agent, count(*) as undoing_actions
    from actions
    where undoes
    group by all
)

select
    episodes.benchmark, run_conditions.condition, episodes.model, episodes.level, episodes.file, measured.episode_id,
    (runs.condition ->> 'size')::int as size,
    runs.condition ->> 'feedback_mode' as feedback_mode,
    episodes.seed, measured.turn, measured.agent,
    agents.model as agent_model,
    measured.parse_ok, measured.parse_strict,
    utterances.text as message,
    measured.repeated_message, measured.sufficient_message, measured.writes, measured.changes, measured.invalid_actions,
    measured.overcorrections,
    coalesce(undone.undoing_actions, 0) as undoing_actions,
    measured.wrong_positions, measured.output_tokens, measured.message_tokens,
    runs.condition ->> 'tokenizer' as tokenizer,
    turns.progress
from measured
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join run_conditions using (run_id)
inner join turns using (episode_id, turn)
inner join agents using (episode_id, agent)
left join utterances
    on measured.episode_id = utterances.episode_id
    and measured.turn = utterances.turn
    and measured.agent = utterances.agent
    and utterances.channel = 'public'
left join undone
    on measured.episode_id = undone.episode_id and measured.turn = undone.turn and measured.agent = undone.agent
where episodes.benchmark = 'asympuzl' and coalesce(runs.condition ->> 'solo', 'false') = 'false';

-- values_asympuzl: what each turn of AsymPuzl games cost (docs/values.md).
-- One row is a turn of both agents, or of A alone where the log ends in the middle.
create or replace view values_asympuzl as
with measured as (
    from (select episode_id, turn, measure[10:] as measure, value_before, value_after, cost from turn_values where starts_with(measure, 'asympuzl.'))
    pivot (
        max(value_before) as before, max(value_after) as after, max(cost) as cost
        for measure in ('hands', 'know', 'known_a', 'known_b') group by episode_id, turn
    )
)

select
    run_conditions.condition, episodes.model,
    (runs.condition ->> 'size')::bigint as size,
    runs.condition ->> 'feedback_mode' as feedback_mode,
    episodes.seed, measured.episode_id, measured.turn,
    greatest(episodes.max_turns - measured.turn + 1, 0) as turns_left,
    hands_before, hands_after, hands_cost as cost, know_before, know_after, know_cost,
    measured.known_a_before, measured.known_a_after, measured.known_b_before, measured.known_b_after,
    measured.turn + measured.know_after > episodes.max_turns as lost_after
from measured
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join run_conditions using (run_id);

-- asympuzl_positions: how often AsymPuzl agents wrote each position on each turn.
-- One row is (game, agent, turn, position) with at least one valid action.
create or replace view asympuzl_positions as
select
    asympuzl_games.benchmark, asympuzl_games.condition, asympuzl_games.model, asympuzl_games.level, actions.episode_id,
    asympuzl_games.size, asympuzl_games.feedback_mode, actions.agent,
    agents.model as agent_model,
    actions.turn,
    (actions.arguments ->> 'position')::int as position,
    count(*) as writes,
    count(*) filter (actions.undoes) as undoing_actions
from asympuzl_games
inner join actions using (episode_id)
inner join agents using (episode_id, agent)
where actions.accepted and actions.verb = 'replace'
group by all;
