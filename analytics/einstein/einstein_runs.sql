-- einstein_runs: success, subgoals, steps and corrections of each Einstein run, with standard errors.
-- One row is a run. Games whose end is not known (see `games`) are in no number; `leaderboard` counts them. Standard errors have the population form (sd with divisor m, over sqrt(m)): all printed errors of the paper have it.
--   run  text  name of the run: its folder, or condition and players
--   action_mode  text  provide_seek, provide, seek or none; for mixed pairs both, joined by +
--   use_cot  flag  reasoning was asked for; null if neither prompts nor manifest tell
--   verifier  text  none, affordance_verifier, communication_verifier or reasoning_verifier; null for published logs without manifest
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
--   n_move  count  moves, refused ones included
--   n_share  count  shares likewise
--   n_ask  count  asks likewise
--   n_pass  count  passes
--   n_invalid  count  answers that the grammar does not read
--   mean_steps_success  steps  mean steps of successful games; null without success
-- Report: einstein, ordered by action_mode, use_cot, verifier, run
-- Shows: run, action_mode, verifier, games, sr_pct, subr_pct, stepr
-- Reads: einstein_game_facts.
create or replace view einstein_runs as

select
    run,
    action_mode,
    use_cot,
    verifier,
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
