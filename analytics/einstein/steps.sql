-- einstein_failure_map: the part of failure_map that is about Einstein Puzzles; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view einstein_failure_map as
select * from rows_of('failure_map.csv');

-- einstein_step_facts: everything countable about a step of an Einstein game; the einstein views are made from it.
-- One row is a step, that is a turn, of an Einstein game. Flags are 1 and 0, as the reference tables write them.
create or replace view einstein_step_facts as
with played as (
    select
        episodes.episode_id, episodes.run_id,
        runs.name as run,
        coalesce(episodes.details ->> '$.file_id', episodes.task_id) as game_id
    from episodes
    inner join runs using (run_id)
    where episodes.benchmark = 'einstein'
),

measured as (
    from (select episode_id, turn, metric[10:] as metric, value from turn_metrics where starts_with(metric, 'einstein.') and turn > 0)
    pivot (max(value) for metric in (
        'state_changed', 'history_ok', 'terminated', 'truncated', 'correct_objects', 'deducible_move_available', 'executed_sample',
        'used_trials', 'sum_err', 'corrected'
    ) group by episode_id, turn)
),

sampled as (
    select episode_id, turn, string_agg(value::int::varchar, '|' order by try_cast(split_part(metric, '.', 3) as int)) as actions_err
    from turn_metrics
    where starts_with(metric, 'einstein.sample_cost.') and turn > 0
    group by all
),

labelled as (
    select
        episode_id, turn,
        string_agg(category, '|' order by list_position([
            'format_following', 'object_not_in_source_bin', 'source_bin_not_reachable', 'dest_bin_not_reachable',
            'same_source_dest', 'redundant_sharing', 'no_share_after_seek', 'wrong_share_after_seek', 'seek_known_object',
            'wrong_rule', 'wrong_guess'
        ], category)) filter (taxonomy = 'einstein_published' and category <> 'no_error') as labels,
        string_agg(category, '|' order by list_position([
            'unanswerable_seek', 'refused_seek_pending', 'share_not_owned', 'obsolete_share', 'out_of_mode', 'unknown_object',
            'repeated_refused_move', 'lucky_guess'
        ], category)) filter (taxonomy = 'einstein_extended' and category <> 'none_of_these') as ext_labels
    from failures
    where taxonomy in ('einstein_published', 'einstein_extended')
    group by all
)

select
    played.episode_id, played.run_id, played.run, played.game_id,
    turns.turn - 1 as step,
    (actions.agent = 'Player2')::int as player,
    actions.verb as action_type,
    case
        when actions.verb = 'move'
            then 'move ' || (arguments ->> 'block') || ' from ' || (arguments ->> 'from') || ' to ' || (arguments ->> 'to')
        when actions.verb = 'share' and arguments ->> 'in' is not null
            then 'share (' || (arguments ->> 'block') || ', in, ' || (arguments ->> 'in') || ')'
        when actions.verb = 'share'
            then 'share (' || (arguments ->> '$.blocks[0]') || ', ' || (arguments ->> '$.blocks[1]') || ', same, ' || (arguments ->> 'same') || ')'
        when actions.verb = 'ask' then 'ask ' || (arguments ->> 'block')
        when actions.verb = 'pass' then 'pass'
    end as action,
    actions.accepted::int as accepted,
    columns('^(state_changed|history_ok|terminated|truncated|correct_objects|deducible_move_available)$')::int,
    labelled.labels, labelled.ext_labels,
    columns('^(executed_sample|used_trials|sum_err)$')::int,
    sampled.actions_err,
    measured.corrected::int as corrected
from played
inner join turns using (episode_id)
inner join actions on turns.episode_id = actions.episode_id and turns.turn = actions.turn and actions.seq = 1
inner join measured on turns.episode_id = measured.episode_id and turns.turn = measured.turn
inner join labelled on turns.episode_id = labelled.episode_id and turns.turn = labelled.turn
left join sampled on turns.episode_id = sampled.episode_id and turns.turn = sampled.turn;

-- einstein_turn_costs: the part of turn_costs that is about Einstein Puzzles.
-- One row is a turn.
create or replace view einstein_turn_costs as
with limits as (
    -- by the published rules a game that is solved in its last step counts as failed
    select episode_id, max_turns - (runs.condition ->> 'rules' = 'published')::int as last_step
    from episodes
    inner join runs using (run_id)
)

select
    known.*,
    known.turn - 1 + hands.value_before > limits.last_step as lost_before,
    known.turn + hands.value_after > limits.last_step as lost
from turn_values as known
inner join turn_values as hands
    on known.episode_id = hands.episode_id and known.turn = hands.turn and hands.measure = 'einstein.hands'
inner join limits on known.episode_id = limits.episode_id
where known.measure = 'einstein.know';

-- einstein_steps: the steps of Einstein games with the columns of the reference table.
-- One row is a step of an Einstein game.
-- Columns as in: einstein_step_facts.
create or replace view einstein_steps as
select * exclude (episode_id, run_id) from einstein_step_facts;

-- values_einstein: what each step of Einstein games cost, with the columns of the reference table.
-- One row is a step, that is a turn, of an Einstein game. Flags are 1 and 0, as the reference table writes them.
create or replace view values_einstein as
with measured as (
    from (select episode_id, turn, measure[10:] as measure, value_before, value_after, cost from turn_values where starts_with(measure, 'einstein.'))
    pivot (
        max(value_before) as before, max(value_after) as after, max(cost) as cost
        for measure in ('hands', 'plan', 'know') group by episode_id, turn
    )
),

limits as (
    select
        episodes.episode_id,
        -- by the published rules a game that is solved in its last step counts as failed
        episodes.max_turns - (runs.condition ->> 'rules' = 'published')::int as last_step
    from episodes
    inner join runs using (run_id)
)

select
    facts.run, facts.game_id, facts.step, facts.player, facts.action_type, facts.accepted, facts.state_changed,
    hands_before as d_before, hands_after as d_after, hands_cost as cost, measured.plan_before, measured.plan_after, measured.plan_cost,
    measured.know_before, measured.know_after, measured.know_cost,
    (facts.state_changed = 1 and facts.accepted = 0)::int as lucky,
    1 as steps_spent,
    (facts.step + 1 + measured.hands_after > limits.last_step)::int as lost_after
from einstein_step_facts as facts
inner join measured on facts.episode_id = measured.episode_id and facts.step + 1 = measured.turn
inner join limits on facts.episode_id = limits.episode_id;

-- einstein_errors: how often each error category of the paper's Table 2 occurs, over both of its denominators.
-- One row is (scope, category). Scopes are the runs, and all games of one verifier and action mode together.
-- Report: einstein-errors, ordered by scope, verifier, action_mode, count desc, category
-- Listed: Einstein Puzzles: the error categories of Table 2
-- Shows: action_mode, verifier, category, count, pct_of_total
create or replace view einstein_errors as
with categories as (
    select category, nullif(relevant_action_type, '') as relevant_action_type from rows_of('error_categories.csv')
),

scopes as (
    select 'run:' || run as scope, run_id as key, * from einstein_game_facts
    union all by name
    select 'pooled' as scope, null as key, * from einstein_game_facts where verifier is not null
),

totals as (
    select
        scope, key, verifier, action_mode,
        sum(step_count)::bigint as total_steps,
        sum(n_move)::bigint as move,
        sum(n_share)::bigint as share,
        sum(n_ask)::bigint as ask,
        sum(columns('^(format_following|.*_source_bin|.*_not_reachable|same_source_dest|redundant_sharing|.*_after_seek|seek_known_object|wrong_rule'
            || '|wrong_guess)$'))::bigint as '\0',
        sum(no_error_steps)::bigint as no_error
    from scopes
    group by all
),

counted as (
    unpivot totals
    on format_following, object_not_in_source_bin, source_bin_not_reachable, dest_bin_not_reachable, same_source_dest, redundant_sharing,
        no_share_after_seek, wrong_share_after_seek, seek_known_object, wrong_rule, wrong_guess, no_error
    into name category value count
),

rated as (
    select
        *,
        case relevant_action_type when 'move' then move when 'share' then share when 'ask' then ask end as relevant_count
    from counted
    inner join categories using (category)
)

select
    scope, verifier, action_mode, category, count, total_steps,
    100 * count / nullif(total_steps, 0) as pct_of_total,
    relevant_action_type, relevant_count,
    100 * count / nullif(relevant_count, 0) as pct_of_relevant
from rated;
