-- craft_game_facts: everything countable about a CRAFT game; craft_games, craft_models and leaderboard are made from it.
-- One row is a CRAFT game. A game that could not be set up has nulls from n_turns on, and in its scores.
--   episode_id  text  the game
--   run_id  text  its run
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   structure_id  text  the target
--   run  number  run index of the log; null if it has none
--   complexity  text  simple, medium or complex; null if the log does not say
--   turns_taken  count  turns as recorded
--   stopping_reason  text  as logged; null if the game could not be set up
--   completed  flag  as logged: progress reached 0.95
--   game_error  text  why the game could not be set up; null if it could
--   final_progress_logged  0..1  progress after the last accepted move, as logged; null if the game could not be set up
--   overall_progress  0..1  mean of iou_score, completion_percentage and position_accuracy at the end
--   completion_percentage  0..1  right blocks at the right cell and layer, of the target's entries, at the end
--   iou_score  0..1  intersection over union of the cells' block sets at the end
--   position_accuracy  0..1  cells whose block set equals the target's, of nine, at the end
--   distance_score  0..1  Soerensen-Dice of the cells' block sets at the end; higher is better
--   overall_progress_t0  0..1  overall_progress before the first turn
--   blocks_total_target  count  entries of the target; a large block counts twice
--   n_turns  count  turns
--   n_clarify  count  turns on which the builder asked instead of moving
--   n_attempted  count  turns with a recorded move
--   n_executed  count  moves the engine carried out
--   n_failed  count  moves the engine refused
--   failed_rate_attempted  0..1  n_failed / n_attempted; null without attempts
--   failed_rate_all_turns  0..1  n_failed / n_turns; null without turns
--   failed_last_turn  flag  the last turn's move was refused; null if it has no move
--   failed_turn_20  flag  turn 20's move was refused (the paper's "Failed"); null if there is no move at turn 20
--   n_oracle_turns  count  turns with listed candidates
--   n_no_oracle_turns  count  the other turns, clarifications included
--   n_followed_logged  count  turns whose logged flag says that a candidate was followed
--   adherence_logged  0..1  n_followed_logged / n_oracle_turns; null without such turns
--   adherence_full  0..1  share of turns with candidates on which one was literally carried out; null without such turns
--   adherence_physical  0..1  share of turns with candidates on which one was carried out in effect; null without such turns
--   communication_failures  count  turns with candidates, none of them followed by the logged flag
--   attempted_remove_rate  0..1  removals / n_attempted; null without attempts
--   attempted_remove_rate_all_turns  0..1  removals / n_turns; null without turns
--   oracle_remove_rate_any  0..1  share of turns with candidates that list a removal; null without such turns
--   oracle_remove_rate_first  0..1  share of turns with candidates whose first one is a removal; null without such turns
--   oracle_remove_rate_share  0..1  mean share of removals among a turn's candidates; null without such turns
--   remove_gap_any  -1..1  attempted_remove_rate - oracle_remove_rate_any; null where either is
--   remove_gap_first  -1..1  attempted_remove_rate - oracle_remove_rate_first; null where either is
--   remove_gap_share  -1..1  attempted_remove_rate - oracle_remove_rate_share; null where either is
--   longest_unchanged_run  turns  longest run of turns without a change of the board
--   n_repeated_failed_moves  count  refused moves with the action, position and layer of the move refused on the turn before
--   tax_correct  count  turns of this category of the published taxonomy
--   tax_engine_layer_error  count  likewise
--   tax_engine_span_error  count  likewise
--   tax_engine_other_error  count  likewise
--   tax_wrong_position  count  likewise
--   tax_wrong_block_color  count  likewise
--   tax_wrong_span  count  likewise
--   tax_no_oracle_or_attempt  count  likewise; outside the denominator of n_oracle_turns
--   file  text  path relative to the folder given to `cotrace ingest`
--   max_turns  turns  turn limit; null if the log does not say
--   n_followed_full  count  turns with candidates on which one was literally carried out
--   n_attempted_remove  count  removals attempted
--   n_attempted_remove_oracle_turns  count  removals attempted on turns with candidates
--   n_oracle_remove_any  count  turns with candidates that list a removal
--   n_oracle_remove_first  count  turns with candidates whose first one is a removal
--   sum_oracle_remove_share  number  sum over those turns of the share of removals among the candidates; null without such turns
--   n_listed  count  candidates listed, over all turns
--   n_listed_remove  count  removals among them
--   progress_share_of_ceiling  number  overall_progress over what verified moves can reach on this target; above 1 where fillers helped
-- Reads: craft_turn_facts, episodes, run_conditions, episode_metrics.
create or replace view craft_game_facts as

with facts as materialized (  -- read twice below
    select * from craft_turn_facts
),

islands as (
    select
        episode_id,
        board_changed,
        sum(board_changed::int) over (partition by episode_id order by turn) as island
    from facts
),

unchanged as (
    select episode_id, max(length) as longest_unchanged_run
    from (
        select episode_id, island, count(*) filter (not board_changed) as length
        from islands
        group by all
    )
    group by all
),

counted as (
    select
        episode_id,
        count(*) as n_turns,
        count(*) filter (clarify) as n_clarify,
        count(action) as n_attempted,
        count(*) filter (action is not null and move_executed) as n_executed,
        count(*) filter (failed_move) as n_failed,
        arg_max_null(failed_move, turn) as failed_last_turn,
        bool_or(failed_move) filter (turn = 20) as failed_turn_20,
        count(*) filter (oracle_available) as n_oracle_turns,
        count(*) filter (followed_logged) as n_followed_logged,
        count(*) filter (followed_full) as n_followed_full,
        count(*) filter (followed_physical) as n_followed_physical,
        count(*) filter (not followed_logged) as communication_failures,
        count(*) filter (attempted_remove) as n_attempted_remove,
        count(*) filter (attempted_remove and oracle_available) as n_attempted_remove_oracle_turns,
        count(*) filter (oracle_remove_any) as n_oracle_remove_any,
        count(*) filter (oracle_remove_first) as n_oracle_remove_first,
        sum(oracle_remove_share) as sum_oracle_remove_share,
        sum(n_oracle)::bigint as n_listed,
        sum(n_oracle_remove)::bigint as n_listed_remove,
        count(*) filter (repeats_previous_failed_move) as n_repeated_failed_moves,
        count(*) filter (taxonomy_code = 'correct') as tax_correct,
        count(*) filter (taxonomy_code = 'engine_layer_error') as tax_engine_layer_error,
        count(*) filter (taxonomy_code = 'engine_span_error') as tax_engine_span_error,
        count(*) filter (taxonomy_code = 'engine_other_error') as tax_engine_other_error,
        count(*) filter (taxonomy_code = 'wrong_position') as tax_wrong_position,
        count(*) filter (taxonomy_code = 'wrong_block_color') as tax_wrong_block_color,
        count(*) filter (taxonomy_code = 'wrong_span') as tax_wrong_span,
        count(*) filter (taxonomy_code = 'no_oracle_or_attempt') as tax_no_oracle_or_attempt
    from facts
    group by all
),

finals as (
    select
        episode_id,
        max(value) filter (metric = 'craft.overall_progress') as overall_progress,
        max(value) filter (metric = 'craft.completion_percentage') as completion_percentage,
        max(value) filter (metric = 'craft.iou_score') as iou_score,
        max(value) filter (metric = 'craft.position_accuracy') as position_accuracy,
        max(value) filter (metric = 'craft.distance_score') as distance_score,
        max(value) filter (metric = 'craft.overall_progress_t0') as overall_progress_t0,
        max(value) filter (metric = 'craft.structure.blocks_total')::bigint as blocks_total_target,
        max(value) filter (metric = 'craft.progress_share_of_ceiling') as progress_share_of_ceiling
    from episode_metrics
    group by all
)

select
    episodes.episode_id,
    episodes.run_id,
    run_conditions.condition,
    episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.task_id as structure_id,
    episodes.seed as run,
    episodes.level as complexity,
    episodes.turns_taken,
    episodes.stop_reason as stopping_reason,
    coalesce(try_cast(episodes.details ->> 'completed' as boolean), episodes.success) as completed,
    case when episodes.turns_taken = 0 then episodes.error end as game_error,
    case when episodes.turns_taken > 0 then try_cast(episodes.details ->> 'final_progress' as double) end as final_progress_logged,
    finals.overall_progress,
    finals.completion_percentage,
    finals.iou_score,
    finals.position_accuracy,
    finals.distance_score,
    finals.overall_progress_t0,
    finals.blocks_total_target,
    counted.n_turns,
    counted.n_clarify,
    counted.n_attempted,
    counted.n_executed,
    counted.n_failed,
    counted.n_failed / nullif(counted.n_attempted, 0) as failed_rate_attempted,
    counted.n_failed / counted.n_turns as failed_rate_all_turns,
    counted.failed_last_turn,
    counted.failed_turn_20,
    counted.n_oracle_turns,
    counted.n_turns - counted.n_oracle_turns as n_no_oracle_turns,
    counted.n_followed_logged,
    counted.n_followed_logged / nullif(counted.n_oracle_turns, 0) as adherence_logged,
    counted.n_followed_full / nullif(counted.n_oracle_turns, 0) as adherence_full,
    counted.n_followed_physical / nullif(counted.n_oracle_turns, 0) as adherence_physical,
    counted.communication_failures,
    counted.n_attempted_remove / nullif(counted.n_attempted, 0) as attempted_remove_rate,
    counted.n_attempted_remove / counted.n_turns as attempted_remove_rate_all_turns,
    counted.n_oracle_remove_any / nullif(counted.n_oracle_turns, 0) as oracle_remove_rate_any,
    counted.n_oracle_remove_first / nullif(counted.n_oracle_turns, 0) as oracle_remove_rate_first,
    counted.sum_oracle_remove_share / nullif(counted.n_oracle_turns, 0) as oracle_remove_rate_share,
    attempted_remove_rate - oracle_remove_rate_any as remove_gap_any,
    attempted_remove_rate - oracle_remove_rate_first as remove_gap_first,
    attempted_remove_rate - oracle_remove_rate_share as remove_gap_share,
    unchanged.longest_unchanged_run,
    counted.n_repeated_failed_moves,
    counted.tax_correct,
    counted.tax_engine_layer_error,
    counted.tax_engine_span_error,
    counted.tax_engine_other_error,
    counted.tax_wrong_position,
    counted.tax_wrong_block_color,
    counted.tax_wrong_span,
    counted.tax_no_oracle_or_attempt,
    episodes.file,
    episodes.max_turns,
    counted.n_followed_full,
    counted.n_attempted_remove,
    counted.n_attempted_remove_oracle_turns,
    counted.n_oracle_remove_any,
    counted.n_oracle_remove_first,
    counted.sum_oracle_remove_share,
    counted.n_listed,
    counted.n_listed_remove,
    finals.progress_share_of_ceiling
from episodes
inner join run_conditions using (run_id)
left join counted using (episode_id)
left join unchanged using (episode_id)
left join finals using (episode_id)
where episodes.benchmark = 'craft';
