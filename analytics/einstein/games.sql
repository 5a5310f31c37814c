-- einstein_game_facts: everything countable about an Einstein game; einstein_games, einstein_runs and einstein_errors are made from it.
-- One row is an Einstein game. Flags are 1 and 0, as the reference tables write them.
create or replace view einstein_game_facts as
with measured as (
    from (select episode_id, metric[10:] as metric, value from episode_metrics where starts_with(metric, 'einstein.'))
    pivot (max(value) for metric in (
        'num_objects', 'terminated', 'truncated', 'success', 'correct_objects', 'sub_r', 'optimal_steps',
        'optimal_first_player', 'step_ratio', 'total_used_trials', 'avg_used_trials', 'total_sum_err', 'avg_sum_err',
        'avg_corrected', 'solved_at_limit'
    ) group by episode_id)
),

stepped as (
    select
        episode_id,
        count(*) as step_count,
        count(*) filter (action_type = 'move') as n_move,
        count(*) filter (action_type = 'share') as n_share,
        count(*) filter (action_type = 'ask') as n_ask,
        count(*) filter (action_type = 'pass') as n_pass,
        count(*) filter (action_type = 'invalid') as n_invalid,
        sum(accepted)::bigint as n_accepted,
        sum(state_changed)::bigint as n_state_changed
    from einstein_step_facts
    group by all
),

labelled as (
    from (
        select
            episode_id,
            case when taxonomy = 'einstein_extended' then 'ext_' || category when category = 'no_error' then 'no_error_steps' else category end as label
        from failures
        where taxonomy in ('einstein_published', 'einstein_extended')
    )
    pivot (count(*) for label in (
        'format_following', 'object_not_in_source_bin', 'source_bin_not_reachable', 'dest_bin_not_reachable',
        'same_source_dest', 'redundant_sharing', 'no_share_after_seek', 'wrong_share_after_seek', 'seek_known_object',
        'wrong_rule', 'wrong_guess', 'no_error_steps', 'ext_unanswerable_seek', 'ext_refused_seek_pending',
        'ext_share_not_owned', 'ext_obsolete_share', 'ext_out_of_mode', 'ext_unknown_object',
        'ext_repeated_refused_move', 'ext_lucky_guess'
    ) group by episode_id)
),

players as (
    select
        episode_id,
        max(coalesce(persona, nullif(model, 'unknown'))) filter (agent = 'Player1') as policy_p1,
        max(coalesce(persona, nullif(model, 'unknown'))) filter (agent = 'Player2') as policy_p2
    from agents
    group by all
),

conditions as (
    select
        run_id,
        name as run,
        coalesce(condition ->> 'action_mode', array_to_string(condition ->> ['$.modes[0]', '$.modes[1]'], '+')) as action_mode,
        try_cast(condition ->> 'reasoning' as boolean)::int as use_cot,
        case when condition ->> 'verifier' = 'none' then 'none' else (condition ->> 'verifier') || '_verifier' end as verifier
    from runs
    where benchmark = 'einstein'
)

select
    episodes.episode_id, episodes.run_id, episodes.benchmark, run_conditions.condition, episodes.model, episodes.level,
    measured.solved_at_limit::int as solved_at_limit,
    conditions.run,
    coalesce(episodes.details ->> '$.file_id', episodes.task_id) as game_id,
    episodes.task_id as base_game_id,
    conditions.action_mode, conditions.use_cot, conditions.verifier, players.policy_p1, players.policy_p2,
    measured.num_objects::int as num_objects,
    coalesce(stepped.step_count, 0) as step_count,
    measured.terminated::int as terminated,
    measured.truncated::int as truncated,
    measured.success::int as success,
    measured.correct_objects::int as correct_objects,
    measured.sub_r,
    measured.optimal_steps::int as optimal_steps,
    measured.optimal_first_player::int as optimal_first_player,
    null::int as optimal_checked,
    measured.step_ratio,
    measured.total_used_trials::int as total_used_trials,
    measured.avg_used_trials,
    measured.total_sum_err::int as total_sum_err,
    measured.avg_sum_err, measured.avg_corrected,
    coalesce(columns(stepped.* exclude (episode_id, step_count)), 0),
    coalesce(columns(labelled.* exclude (episode_id)), 0)
from episodes
inner join conditions using (run_id)
inner join run_conditions using (run_id)
inner join measured using (episode_id)
left join stepped using (episode_id)
left join labelled using (episode_id)
left join players using (episode_id);

-- einstein_games: Einstein games with the columns of the reference table.
-- One row is an Einstein game.
-- Columns as in: einstein_game_facts.
create or replace view einstein_games as
select * exclude (episode_id, run_id, benchmark, condition, model, level, solved_at_limit) from einstein_game_facts;

-- einstein_runs: success, subgoals, steps and corrections of each Einstein run, with standard errors.
-- One row is a run. Games whose end is not known (see `games`) are in no number; `leaderboard` counts them. Standard errors have the population form (sd with divisor m, over sqrt(m)): all printed errors of the paper have it.
-- Report: einstein, ordered by action_mode, use_cot, verifier, run
-- Listed: Einstein Puzzles: success, subgoals and steps of each run
-- Shows: run, action_mode, verifier, games, sr_pct, subr_pct, stepr
create or replace view einstein_runs as
select
    run, action_mode, use_cot, verifier,
    count(success) as games,
    coalesce(sum(success), 0)::bigint as successes,
    100 * avg(success) as sr_pct,
    100 * stddev_pop(success) / sqrt(count(success)) as sr_se,
    100 * avg(sub_r) as subr_pct,
    100 * stddev_pop(sub_r) / sqrt(count(sub_r)) as subr_se,
    avg(step_ratio) as stepr,
    stddev_pop(step_ratio) / sqrt(count(step_ratio)) as stepr_se,
    100 * avg(avg_corrected) as corrr_pct,
    100 * stddev_pop(avg_corrected) / sqrt(count(avg_corrected)) as corrr_se,
    coalesce(sum(step_count) filter (success is not null), 0)::bigint as total_steps,
    coalesce(sum(columns('^n_(move|share|ask|pass|invalid)$')) filter (success is not null), 0)::bigint,
    avg(step_count) filter (success = 1) as mean_steps_success
from einstein_game_facts
group by run_id, run, action_mode, use_cot, verifier;
