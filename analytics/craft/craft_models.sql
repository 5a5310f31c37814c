-- craft_models: CRAFT teams with the columns of the reference table, and the condition in front of them.
-- One row is (condition, model, builder, run). Conditions are never pooled; turn limits inside one condition are, because the published
-- folders do not tell them apart (leaderboard does). Standard errors are over games (sample standard deviation, ddof 1, / sqrt(n)) and null
-- below two games.
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   run  number  run index of the log; null if it has none
--   n_games  count  games that could be set up
--   n_turns  count  their turns
--   n_attempted  count  turns with a recorded move
--   n_oracle_turns  count  turns with listed candidates
--   n_clarify  count  turns on which the builder asked instead of moving
--   overall_progress_mean  0..1  mean over games of overall_progress at the end
--   overall_progress_sem  number  its standard error
--   completion_percentage_mean  0..1  mean over games of completion_percentage at the end
--   completion_percentage_sem  number  its standard error
--   iou_score_mean  0..1  mean over games of iou_score at the end
--   iou_score_sem  number  its standard error
--   position_accuracy_mean  0..1  mean over games of position_accuracy at the end
--   position_accuracy_sem  number  its standard error
--   distance_score_mean  0..1  mean over games of distance_score at the end
--   distance_score_sem  number  its standard error
--   failed_turn20_n  count  games that had a move at turn 20
--   failed_turn20_mean  0..1  share of them whose move at turn 20 was refused; null if there are none
--   failed_turn20_sem  number  its standard error
--   failed_rate_pooled  0..1  refused moves / n_attempted; null without attempts
--   attempted_remove_rate_pooled  0..1  removals / n_attempted; null without attempts
--   attempted_remove_rate_oracle_turns  0..1  removals on turns with candidates / n_oracle_turns; null without such turns
--   oracle_remove_rate_any_pooled  0..1  share of turns with candidates that list a removal; null without such turns
--   oracle_remove_rate_first_pooled  0..1  share of turns with candidates whose first one is a removal; null without such turns
--   oracle_remove_rate_share_pooled  0..1  mean over turns with candidates of the share of removals; null without such turns
--   oracle_remove_fraction_of_all_listed_moves  0..1  removals among all candidates listed; null if none was
--   remove_gap_any_pooled  -1..1  attempted_remove_rate_pooled - oracle_remove_rate_any_pooled; null where either is
--   remove_gap_any_mean_of_games  -1..1  mean of the games' remove_gap_any; null if no game has one
--   remove_gap_first_pooled  -1..1  attempted_remove_rate_pooled - oracle_remove_rate_first_pooled; null where either is
--   remove_gap_first_mean_of_games  -1..1  mean of the games' remove_gap_first; null if no game has one
--   remove_gap_share_pooled  -1..1  attempted_remove_rate_pooled - oracle_remove_rate_share_pooled; null where either is
--   remove_gap_share_mean_of_games  -1..1  mean of the games' remove_gap_share; null if no game has one
--   adherence_logged_pooled  0..1  turns with the logged followed flag / n_oracle_turns; null without such turns
--   adherence_full_pooled  0..1  turns on which a candidate was literally carried out / n_oracle_turns; null without such turns
--   tax_correct  0..1  share of this category of the published taxonomy, of n_oracle_turns; null without such turns
--   tax_engine_layer_error  0..1  likewise
--   tax_engine_span_error  0..1  likewise
--   tax_engine_other_error  0..1  likewise
--   tax_wrong_position  0..1  likewise
--   tax_wrong_block_color  0..1  likewise
--   tax_wrong_span  0..1  likewise
-- Reads: craft_game_facts.
create or replace view craft_models as

with summed as (
    select
        condition,
        model,
        builder,
        run,
        count(overall_progress) as n_games,
        sum(n_turns)::bigint as n_turns,
        sum(n_attempted)::bigint as n_attempted,
        sum(n_oracle_turns)::bigint as n_oracle_turns,
        sum(n_clarify)::bigint as n_clarify,
        avg(overall_progress) as overall_progress_mean,
        stddev_samp(overall_progress) / sqrt(count(overall_progress)) as overall_progress_sem,
        avg(completion_percentage) as completion_percentage_mean,
        stddev_samp(completion_percentage) / sqrt(count(completion_percentage)) as completion_percentage_sem,
        avg(iou_score) as iou_score_mean,
        stddev_samp(iou_score) / sqrt(count(iou_score)) as iou_score_sem,
        avg(position_accuracy) as position_accuracy_mean,
        stddev_samp(position_accuracy) / sqrt(count(position_accuracy)) as position_accuracy_sem,
        avg(distance_score) as distance_score_mean,
        stddev_samp(distance_score) / sqrt(count(distance_score)) as distance_score_sem,
        count(failed_turn_20) as failed_turn20_n,
        avg(failed_turn_20::int) as failed_turn20_mean,
        stddev_samp(failed_turn_20::int) / sqrt(count(failed_turn_20)) as failed_turn20_sem,
        sum(n_failed) / nullif(sum(n_attempted), 0) as failed_rate_pooled,
        sum(n_attempted_remove) / nullif(sum(n_attempted), 0) as attempted_remove_rate_pooled,
        sum(n_attempted_remove_oracle_turns) / nullif(sum(n_oracle_turns), 0) as attempted_remove_rate_oracle_turns,
        sum(n_oracle_remove_any) / nullif(sum(n_oracle_turns), 0) as oracle_remove_rate_any_pooled,
        sum(n_oracle_remove_first) / nullif(sum(n_oracle_turns), 0) as oracle_remove_rate_first_pooled,
        sum(sum_oracle_remove_share) / nullif(sum(n_oracle_turns), 0) as oracle_remove_rate_share_pooled,
        sum(n_listed_remove) / nullif(sum(n_listed), 0) as oracle_remove_fraction_of_all_listed_moves,
        avg(remove_gap_any) as remove_gap_any_mean_of_games,
        avg(remove_gap_first) as remove_gap_first_mean_of_games,
        avg(remove_gap_share) as remove_gap_share_mean_of_games,
        sum(n_followed_logged) / nullif(sum(n_oracle_turns), 0) as adherence_logged_pooled,
        sum(n_followed_full) / nullif(sum(n_oracle_turns), 0) as adherence_full_pooled,
        sum(tax_correct) / nullif(sum(n_oracle_turns), 0) as tax_correct,
        sum(tax_engine_layer_error) / nullif(sum(n_oracle_turns), 0) as tax_engine_layer_error,
        sum(tax_engine_span_error) / nullif(sum(n_oracle_turns), 0) as tax_engine_span_error,
        sum(tax_engine_other_error) / nullif(sum(n_oracle_turns), 0) as tax_engine_other_error,
        sum(tax_wrong_position) / nullif(sum(n_oracle_turns), 0) as tax_wrong_position,
        sum(tax_wrong_block_color) / nullif(sum(n_oracle_turns), 0) as tax_wrong_block_color,
        sum(tax_wrong_span) / nullif(sum(n_oracle_turns), 0) as tax_wrong_span
    from craft_game_facts
    group by condition, model, builder, run
)

select
    condition,
    model,
    builder,
    run,
    n_games,
    coalesce(n_turns, 0) as n_turns,
    coalesce(n_attempted, 0) as n_attempted,
    coalesce(n_oracle_turns, 0) as n_oracle_turns,
    coalesce(n_clarify, 0) as n_clarify,
    overall_progress_mean,
    overall_progress_sem,
    completion_percentage_mean,
    completion_percentage_sem,
    iou_score_mean,
    iou_score_sem,
    position_accuracy_mean,
    position_accuracy_sem,
    distance_score_mean,
    distance_score_sem,
    failed_turn20_n,
    failed_turn20_mean,
    failed_turn20_sem,
    failed_rate_pooled,
    attempted_remove_rate_pooled,
    attempted_remove_rate_oracle_turns,
    oracle_remove_rate_any_pooled,
    oracle_remove_rate_first_pooled,
    oracle_remove_rate_share_pooled,
    oracle_remove_fraction_of_all_listed_moves,
    attempted_remove_rate_pooled - oracle_remove_rate_any_pooled as remove_gap_any_pooled,
    remove_gap_any_mean_of_games,
    attempted_remove_rate_pooled - oracle_remove_rate_first_pooled as remove_gap_first_pooled,
    remove_gap_first_mean_of_games,
    attempted_remove_rate_pooled - oracle_remove_rate_share_pooled as remove_gap_share_pooled,
    remove_gap_share_mean_of_games,
    adherence_logged_pooled,
    adherence_full_pooled,
    tax_correct,
    tax_engine_layer_error,
    tax_engine_span_error,
    tax_engine_other_error,
    tax_wrong_position,
    tax_wrong_block_color,
    tax_wrong_span
from summed;
