-- coordination_failure_map: the part of failure_map that is about LLM-Coordination; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view coordination_failure_map as
select * from rows_of('failure_map.csv');

-- coordination_turn_costs: the part of turn_costs that is about LLM-Coordination.
-- One row is a turn.
create or replace view coordination_turn_costs as
with ends as (
    select episode_id, turn, false as over_before, value = 0 as over
    from turn_metrics
    where metric = 'coordination.hanabi_lives'
    union all
    select
        turn_values.episode_id, turn_values.turn,
        turn_values.turn - 1 + turn_values.value_before > episodes.max_turns,
        turn_values.turn + turn_values.value_after > episodes.max_turns
    from turn_values
    inner join episodes using (episode_id)
    where turn_values.measure = 'coordination.capture_turns'
    union all
    select episode_id, turn, false, value_after = 0
    from turn_values
    where measure = 'coordination.escape_luck'
)

select turn_values.*, ends.over_before as lost_before, ends.over as lost
from turn_values
left join ends using (episode_id, turn)
where turn_values.measure in ('coordination.hanabi_bound', 'coordination.capture_turns', 'coordination.escape_chance');

-- values_capture: what each turn of CollabCapture games cost, with the columns of the reference table.
-- One row is a turn of a CollabCapture game.
create or replace view values_capture as
select
    episodes.details ->> 'episode' as episode,
    episodes.task_id as scenario,
    turn_values.turn,
    episodes.team ->> 'alice' as policy_alice,
    episodes.team ->> 'bob' as policy_bob,
    turn_values.value_before as d_before,
    turn_values.value_after as d_after,
    turn_values.cost,
    (turn_values.turn + turn_values.value_after > episodes.max_turns)::int as lost_after
from turn_values
inner join episodes using (episode_id)
anti join coordination_repeated_episodes using (episode_id)
where turn_values.measure = 'coordination.capture_turns';

-- values_escape: what each turn of CollabEscape games cost, with the columns of the reference table.
-- One row is a turn of a CollabEscape game.
create or replace view values_escape as
with measured as (
    select
        episode_id, turn,
        max(value_before) filter (measure = 'coordination.escape_chance') as p_before,
        max(value_after) filter (measure = 'coordination.escape_chance') as p_action,
        max(value_after) filter (measure = 'coordination.escape_luck') as p_after,
        max(value_before) filter (measure = 'coordination.escape_turns') as e_before,
        max(value_after) filter (measure = 'coordination.escape_turns') as e_action,
        max(value_after) filter (measure = 'coordination.escape_turns_after') as e_after,
        max(value_before) filter (measure = 'coordination.escape_best') as d_best_before,
        max(value_after) filter (measure = 'coordination.escape_best') as d_best_after,
        max(value_before) filter (measure = 'coordination.escape_sure') as d_sure_before,
        max(value_after) filter (measure = 'coordination.escape_sure') as d_sure_after,
        bool_and(kind = 'exact') as exact
    from turn_values
    where starts_with(measure, 'coordination.escape_')
    group by all
)

select
    episodes.details ->> 'episode' as episode,
    measured.turn,
    episodes.team ->> 'alice' as policy_alice,
    episodes.team ->> 'bob' as policy_bob,
    (turns.state_before ->> 'adversary_target' is not null)::int as killer_known,
    measured.p_before, measured.p_action, measured.p_after,
    measured.p_before - measured.p_action as loss,
    measured.p_after - measured.p_action as luck,
    measured.e_before, measured.e_action, measured.e_after,
    measured.e_action - measured.e_before as cost,
    measured.d_best_before, measured.d_best_after, measured.d_sure_before, measured.d_sure_after,
    case when measured.exact then 'exact' else 'two_readings' end as mark
from measured
inner join episodes using (episode_id)
inner join turns using (episode_id, turn)
anti join coordination_repeated_episodes using (episode_id);

-- values_hanabi: what each turn of Hanabi games cost at least, with the columns of the reference table.
-- One row is a turn of a Hanabi game.
create or replace view values_hanabi as
with measured as (
    select
        episode_id, turn,
        max(value_before) filter (measure = 'coordination.hanabi_reach') as reach_before,
        max(value_after) filter (measure = 'coordination.hanabi_reach') as reach_after,
        max(value_before) filter (measure = 'coordination.hanabi_pace') as pace_before,
        max(value_after) filter (measure = 'coordination.hanabi_pace') as pace_after,
        max(value_before) filter (measure = 'coordination.hanabi_bound') as ub_before,
        max(value_after) filter (measure = 'coordination.hanabi_bound') as ub_after,
        max(cost) filter (measure = 'coordination.hanabi_bound') as loss
    from turn_values
    where starts_with(measure, 'coordination.hanabi_')
    group by all
),

numbers as (
    select
        episode_id, turn,
        max(value) filter (metric = 'coordination.hanabi_score') as score,
        max(value) filter (metric = 'coordination.hanabi_lives') as lives
    from turn_metrics
    where metric in ('coordination.hanabi_score', 'coordination.hanabi_lives')
    group by all
),

described as (
    select
        episodes.details ->> 'episode' as episode,
        turns.turn,
        actions.agent as player,
        agents.model as policy,
        upper(actions.verb) as action_type,
        coalesce(lag(numbers.score) over (partition by turns.episode_id order by turns.turn), 0) as score_before,
        numbers.score as score_after,
        numbers.lives as lives_after,
        (turns.state_before ->> 'deck_size')::bigint as deck_before,
        (turns.state_after ->> 'deck_size')::bigint as deck_after,
        measured.* exclude (episode_id, turn)
    from measured
    inner join episodes using (episode_id)
    inner join turns using (episode_id, turn)
    inner join actions using (episode_id, turn)
    inner join agents on actions.episode_id = agents.episode_id and actions.agent = agents.agent
    inner join numbers using (episode_id, turn)
    anti join coordination_repeated_episodes on measured.episode_id = coordination_repeated_episodes.episode_id
)

select
    *,
    case
        when loss = 0 then null
        when lives_after = 0 then 'out_of_lives'
        when pace_after < reach_after then 'pace'
        when action_type = 'PLAY' then 'bomb'
        else 'last_copy'
    end as reason
from described;
