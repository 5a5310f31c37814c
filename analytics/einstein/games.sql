-- einstein_game_facts: everything countable about an Einstein game; einstein_games, einstein_runs and einstein_errors are made from it.
-- One row is an Einstein game. Flags are 1 and 0, as the reference tables write them.
--   episode_id, run_id
--   benchmark  text  einstein
--   condition
--   model  text  the evaluated model; `unknown` where neither log nor manifest names it
--   level  text  number of objects in words, as in `episodes`
--   solved_at_limit  flag  solved in the very last step: a failure by the published rules, distinguished from the others
--   run, game_id
--   base_game_id  text  the puzzle
--   action_mode, use_cot, verifier
--   policy_p1  text  name of the first player: its script, its model, or human; null if it is not known
--   policy_p2  text  name of the second player likewise
--   num_objects  count  objects of the puzzle
--   step_count  count  steps
--   terminated  flag  all objects were in their goal bins at the end; null if the end is not known, as the other numbers of the end
--   truncated  flag  the step limit was reached
--   success  flag  solved in time
--   correct_objects  count  objects in their goal bins at the end
--   sub_r  0..1  correct_objects / num_objects
--   optimal_steps  count  length of a shortest solution in this action space (provide_seek for mixed pairs)
--   optimal_first_player  number  who begins it: 1 or 2
--   optimal_checked  flag  the published planner confirms it; null: neither logs nor manifest record it
--   step_ratio  number  step_count / optimal_steps; null for failures
--   total_used_trials  count  answers thrown away; null without verifier
--   avg_used_trials  number  the same per step; null without verifier
--   total_sum_err  number  cost of the answers; null without verifier
--   avg_sum_err  number  the same per step; null without verifier
--   avg_corrected  0..1  share of steps in which a later answer replaced the first; null without verifier
--   n_move, n_share, n_ask, n_pass, n_invalid
--   n_accepted  count  steps that were accepted
--   n_state_changed  count  steps after which objects lay elsewhere
--   format_following  count  steps of this category of the paper
--   object_not_in_source_bin  count  steps of this category of the paper
--   source_bin_not_reachable  count  steps of this category of the paper
--   dest_bin_not_reachable  count  steps of this category of the paper
--   same_source_dest  count  steps of this category of the paper
--   redundant_sharing  count  steps of this category of the paper
--   no_share_after_seek, wrong_share_after_seek, seek_known_object, wrong_rule, wrong_guess  count  steps of this category of the paper
--   no_error_steps  count  steps of none of these categories
--   ext_unanswerable_seek  count  steps with this additional label
--   ext_refused_seek_pending  count  steps with this additional label
--   ext_share_not_owned  count  steps with this additional label
--   ext_obsolete_share, ext_out_of_mode, ext_unknown_object, ext_repeated_refused_move, ext_lucky_guess  count  steps with this additional label
-- Reads: einstein_step_facts, episodes, runs, run_conditions, agents, episode_metrics, failures.
create or replace view einstein_game_facts as

with measured as (
    select
        episode_id,
        max(value) filter (metric = 'einstein.num_objects') as num_objects,
        max(value) filter (metric = 'einstein.terminated') as terminated,
        max(value) filter (metric = 'einstein.truncated') as truncated,
        max(value) filter (metric = 'einstein.success') as success,
        max(value) filter (metric = 'einstein.correct_objects') as correct_objects,
        max(value) filter (metric = 'einstein.sub_r') as sub_r,
        max(value) filter (metric = 'einstein.optimal_steps') as optimal_steps,
        max(value) filter (metric = 'einstein.optimal_first_player') as optimal_first_player,
        max(value) filter (metric = 'einstein.step_ratio') as step_ratio,
        max(value) filter (metric = 'einstein.total_used_trials') as total_used_trials,
        max(value) filter (metric = 'einstein.avg_used_trials') as avg_used_trials,
        max(value) filter (metric = 'einstein.total_sum_err') as total_sum_err,
        max(value) filter (metric = 'einstein.avg_sum_err') as avg_sum_err,
        max(value) filter (metric = 'einstein.avg_corrected') as avg_corrected,
        max(value) filter (metric = 'einstein.solved_at_limit') as solved_at_limit
    from episode_metrics
    where metric like 'einstein.%'
    group by all
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
    select
        episode_id,
        count(*) filter (category = 'format_following') as format_following,
        count(*) filter (category = 'object_not_in_source_bin') as object_not_in_source_bin,
        count(*) filter (category = 'source_bin_not_reachable') as source_bin_not_reachable,
        count(*) filter (category = 'dest_bin_not_reachable') as dest_bin_not_reachable,
        count(*) filter (category = 'same_source_dest') as same_source_dest,
        count(*) filter (category = 'redundant_sharing') as redundant_sharing,
        count(*) filter (category = 'no_share_after_seek') as no_share_after_seek,
        count(*) filter (category = 'wrong_share_after_seek') as wrong_share_after_seek,
        count(*) filter (category = 'seek_known_object') as seek_known_object,
        count(*) filter (category = 'wrong_rule') as wrong_rule,
        count(*) filter (category = 'wrong_guess') as wrong_guess,
        count(*) filter (category = 'no_error') as no_error_steps,
        count(*) filter (category = 'unanswerable_seek') as ext_unanswerable_seek,
        count(*) filter (category = 'refused_seek_pending') as ext_refused_seek_pending,
        count(*) filter (category = 'share_not_owned') as ext_share_not_owned,
        count(*) filter (category = 'obsolete_share') as ext_obsolete_share,
        count(*) filter (category = 'out_of_mode') as ext_out_of_mode,
        count(*) filter (category = 'unknown_object') as ext_unknown_object,
        count(*) filter (category = 'repeated_refused_move') as ext_repeated_refused_move,
        count(*) filter (category = 'lucky_guess') as ext_lucky_guess
    from failures
    where taxonomy in ('einstein_published', 'einstein_extended')
    group by all
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
    coalesce(stepped.n_move, 0) as n_move,
    coalesce(stepped.n_share, 0) as n_share,
    coalesce(stepped.n_ask, 0) as n_ask,
    coalesce(stepped.n_pass, 0) as n_pass,
    coalesce(stepped.n_invalid, 0) as n_invalid,
    coalesce(stepped.n_accepted, 0) as n_accepted,
    coalesce(stepped.n_state_changed, 0) as n_state_changed,
    coalesce(labelled.format_following, 0) as format_following,
    coalesce(labelled.object_not_in_source_bin, 0) as object_not_in_source_bin,
    coalesce(labelled.source_bin_not_reachable, 0) as source_bin_not_reachable,
    coalesce(labelled.dest_bin_not_reachable, 0) as dest_bin_not_reachable,
    coalesce(labelled.same_source_dest, 0) as same_source_dest,
    coalesce(labelled.redundant_sharing, 0) as redundant_sharing,
    coalesce(labelled.no_share_after_seek, 0) as no_share_after_seek,
    coalesce(labelled.wrong_share_after_seek, 0) as wrong_share_after_seek,
    coalesce(labelled.seek_known_object, 0) as seek_known_object,
    coalesce(labelled.wrong_rule, 0) as wrong_rule,
    coalesce(labelled.wrong_guess, 0) as wrong_guess,
    coalesce(labelled.no_error_steps, 0) as no_error_steps,
    coalesce(labelled.ext_unanswerable_seek, 0) as ext_unanswerable_seek,
    coalesce(labelled.ext_refused_seek_pending, 0) as ext_refused_seek_pending,
    coalesce(labelled.ext_share_not_owned, 0) as ext_share_not_owned,
    coalesce(labelled.ext_obsolete_share, 0) as ext_obsolete_share,
    coalesce(labelled.ext_out_of_mode, 0) as ext_out_of_mode,
    coalesce(labelled.ext_unknown_object, 0) as ext_unknown_object,
    coalesce(labelled.ext_repeated_refused_move, 0) as ext_repeated_refused_move,
    coalesce(labelled.ext_lucky_guess, 0) as ext_lucky_guess
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
-- Reads: einstein_game_facts.
create or replace view einstein_games as

select * exclude (episode_id, run_id, benchmark, condition, model, level, solved_at_limit) from einstein_game_facts;

-- einstein_runs: success, subgoals, steps and corrections of each Einstein run, with standard errors.
-- One row is a run. Games whose end is not known (see `games`) are in no number; `leaderboard` counts them. Standard errors have the population form (sd with divisor m, over sqrt(m)): all printed errors of the paper have it.
--   run, action_mode, use_cot, verifier
--   games  count  games that ended
--   successes  count  games that were solved in time
--   sr_pct  percent  successes / games (SR)
--   sr_se  percent  its standard error
--   subr_pct  percent  mean share of objects in their goal bins at the end (Sub.R)
--   subr_se  percent  its standard error
--   stepr  number  mean of steps over optimum, successful games only (StepR); null without success
--   stepr_se  number  its standard error
--   corrr_pct  percent  mean over games of the share of corrected steps (Corr.R); null without verifier
--   corrr_se  percent  its standard error
--   total_steps  count  steps of all games
--   n_move, n_share, n_ask, n_pass, n_invalid
--   mean_steps_success  steps  mean steps of successful games; null without success
-- Report: einstein, ordered by action_mode, use_cot, verifier, run
-- Shows: run, action_mode, verifier, games, sr_pct, subr_pct, stepr
-- Reads: einstein_game_facts.
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
    coalesce(sum(n_move) filter (success is not null), 0)::bigint as n_move,
    coalesce(sum(n_share) filter (success is not null), 0)::bigint as n_share,
    coalesce(sum(n_ask) filter (success is not null), 0)::bigint as n_ask,
    coalesce(sum(n_pass) filter (success is not null), 0)::bigint as n_pass,
    coalesce(sum(n_invalid) filter (success is not null), 0)::bigint as n_invalid,
    avg(step_count) filter (success = 1) as mean_steps_success
from einstein_game_facts
group by run_id, run, action_mode, use_cot, verifier;
