-- craft_run_conditions: the condition of each CRAFT run as one short text, written as the published folders are.
-- One row is a run of CRAFT; counterfactual continuations (`cotrace replay`) have none; they are under the name of their run.
--   run_id
--   condition  text  provider group (if the folder names it), oracle size and tools (`api/oracle5_no_tools`), and the start board after it unless it
--                    was empty; the number of the run is not in it, so that the runs of one condition are pooled as in the paper; null where
--                    the log does not record its condition
create or replace view craft_run_conditions as
with parts as (
    select
        run_id,
        regexp_extract(name, '^((?:api|local)/(?:oracle\d+|no_oracle)_(?:no_)?tools)_run\d+', 1) as folder,
        case try_cast(condition ->> 'use_oracle' as boolean)
            when true then 'oracle' || (condition ->> 'num_oracle')
            when false then 'no_oracle'
        end
            || case try_cast(condition ->> 'builder_tool_use' as boolean) when true then '_tools' when false then '_no_tools' end as built,
        coalesce('_' || nullif(condition ->> 'start_board', 'empty'), '') as start_board
    from runs
    where benchmark = 'craft' and (condition -> 'continued') is null
)

select run_id, case when folder <> '' then folder || start_board else built || start_board end as condition
from parts;

-- craft_structures: what is fixed about each CRAFT target before anybody plays, for the targets that were played.
-- One row is (structure_id, the facts below): two targets of one name, out of two datasets, have a row each.
--   structure_id
--   complexity  text  simple (at most 22 entries), medium (23, 24) or complex (25), as logged
--   blocks_total  count  entries; a large block counts twice
--   height_1_1  blocks  height of the hidden cell (1,1), 0 to 2
--   height_2_1  blocks  height of the hidden cell (2,1), 0 to 2
--   n_dominoes  count  large blocks
--   n_physical_blocks  count  blocks, a large one counted once
--   n_forbidden_dominoes  count  large blocks over a hidden cell: the engine never accepts them
--   completable  flag  the target can be reached at all
--   wall_cells_large_seen_as_small  count  wall entries, over the three views, where a large block looks small
--   initial_oracle_moves  count  candidates on the empty board, before sampling
--   oracle_only_moves  count  moves until candidates run out, if only candidates are played from an empty board
--   progress_empty  0..1  overall_progress of the empty board
--   distance_empty  0..1  distance_score of the empty board
--   ceiling_overall_progress  0..1  overall_progress where candidates run out
--   ceiling_completion  0..1  completion_percentage there
--   ceiling_iou  0..1  iou_score there
--   ceiling_position_accuracy  0..1  position_accuracy there
--   ceiling_distance  0..1  distance_score there
create or replace view craft_structures as
with facts as (
    from (select episode_id, metric[17:] as metric, value from episode_metrics where starts_with(metric, 'craft.structure.'))
    pivot (max(value) for metric in (
        'blocks_total', 'height_1_1', 'height_2_1', 'n_dominoes', 'n_physical_blocks', 'n_forbidden_dominoes', 'completable',
        'wall_cells_large_seen_as_small', 'initial_oracle_moves', 'oracle_only_moves', 'progress_empty', 'distance_empty',
        'ceiling_overall_progress', 'ceiling_completion', 'ceiling_iou', 'ceiling_position_accuracy', 'ceiling_distance'
    ) group by episode_id)
)

select distinct
    episodes.task_id as structure_id,
    episodes.level as complexity,
    columns('^(blocks_total|height_._1|n_dominoes|n_physical_blocks|n_forbidden_dominoes)$')::bigint,
    completable = 1 as completable,
    columns('^(wall_cells_large_seen_as_small|initial_oracle_moves|oracle_only_moves)$')::bigint,
    columns('^(.*_empty|ceiling_.*)$')
from facts
inner join episodes using (episode_id);

-- craft_game_facts: everything countable about a CRAFT game; craft_games, craft_models and leaderboard are made from it.
-- One row is a CRAFT game. A game that could not be set up has nulls from n_turns on, and in its scores.
--   episode_id, run_id, condition, model, builder, structure_id, run
--   complexity  text  simple, medium or complex; null if the log does not record it
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
--   n_clarify, n_attempted
--   n_executed  count  moves the engine carried out
--   n_failed  count  moves the engine refused
--   failed_rate_attempted  0..1  n_failed / n_attempted; null without attempts
--   failed_rate_all_turns  0..1  n_failed / n_turns; null without turns
--   failed_last_turn  flag  the last turn's move was refused; null if it has no move
--   failed_turn_20  flag  turn 20's move was refused (the paper's "Failed"); null without a move at turn 20
--   n_oracle_turns
--   n_no_oracle_turns  count  the other turns, clarifications included
--   n_followed_logged  count  turns with the logged flag that a candidate was followed
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
--   tax_engine_layer_error, tax_engine_span_error, tax_engine_other_error, tax_wrong_position, tax_wrong_block_color, tax_wrong_span  count  likewise
--   tax_no_oracle_or_attempt  count  likewise; outside the denominator of n_oracle_turns
--   file, max_turns
--   n_followed_full  count  turns with candidates on which one was literally carried out
--   n_attempted_remove  count  removals attempted
--   n_attempted_remove_oracle_turns  count  removals attempted on turns with candidates
--   n_oracle_remove_any  count  turns with candidates that list a removal
--   n_oracle_remove_first  count  turns with candidates whose first one is a removal
--   sum_oracle_remove_share  number  sum over those turns of the share of removals among the candidates; null without such turns
--   n_listed  count  candidates listed, over all turns
--   n_listed_remove  count  removals among them
--   progress_share_of_ceiling  number  overall_progress over what verified moves can reach on this target; above 1 where fillers helped
create or replace view craft_game_facts as
with facts as materialized (  -- read twice below
    select * from craft_turn_facts
),

islands as (
    select
        episode_id, board_changed,
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
    from (select episode_id, metric[7:] as metric, value from episode_metrics where starts_with(metric, 'craft.'))
    pivot (max(value) for metric in (
        'overall_progress', 'completion_percentage', 'iou_score', 'position_accuracy', 'distance_score', 'overall_progress_t0',
        'structure.blocks_total', 'progress_share_of_ceiling'
    ) group by episode_id)
)

select
    episodes.episode_id, episodes.run_id, run_conditions.condition, episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.task_id as structure_id,
    episodes.seed as run,
    episodes.level as complexity,
    episodes.turns_taken,
    episodes.stop_reason as stopping_reason,
    coalesce(try_cast(episodes.details ->> 'completed' as boolean), episodes.success) as completed,
    case when episodes.turns_taken = 0 then episodes.error end as game_error,
    case when episodes.turns_taken > 0 then try_cast(episodes.details ->> 'final_progress' as double) end as final_progress_logged,
    finals.overall_progress, finals.completion_percentage, finals.iou_score, finals.position_accuracy,
    finals.distance_score, finals.overall_progress_t0, finals."structure.blocks_total"::bigint as blocks_total_target, counted.n_turns, counted.n_clarify,
    counted.n_attempted, counted.n_executed, counted.n_failed,
    counted.n_failed / nullif(counted.n_attempted, 0) as failed_rate_attempted,
    counted.n_failed / counted.n_turns as failed_rate_all_turns,
    counted.failed_last_turn, counted.failed_turn_20, counted.n_oracle_turns,
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
    unchanged.longest_unchanged_run, counted.n_repeated_failed_moves, counted.tax_correct,
    counted.tax_engine_layer_error, counted.tax_engine_span_error, counted.tax_engine_other_error,
    counted.tax_wrong_position, counted.tax_wrong_block_color, counted.tax_wrong_span, counted.tax_no_oracle_or_attempt,
    episodes.file, episodes.max_turns, counted.n_followed_full, counted.n_attempted_remove,
    counted.n_attempted_remove_oracle_turns, counted.n_oracle_remove_any, counted.n_oracle_remove_first,
    counted.sum_oracle_remove_share, counted.n_listed, counted.n_listed_remove, finals.progress_share_of_ceiling
from episodes
inner join run_conditions using (run_id)
left join counted using (episode_id)
left join unchanged using (episode_id)
left join finals using (episode_id)
where episodes.benchmark = 'craft';

-- craft_games: CRAFT games with the columns of the reference tables.
-- Conditions are as in the reference, whose folders name the run (`api/oracle5_no_tools_run3`); all other views pool runs.
-- One row is a CRAFT game. A game that could not be set up has nulls from n_turns on, and in its scores.
-- Columns as in: craft_game_facts.
create or replace view craft_games as
select
    * exclude (
        episode_id, run_id, max_turns, n_followed_full, n_attempted_remove, n_attempted_remove_oracle_turns, n_oracle_remove_any,
        n_oracle_remove_first, sum_oracle_remove_share, n_listed, n_listed_remove, progress_share_of_ceiling
    )
    replace (regexp_replace(condition, '^((api/|local/)?(oracle\d+|no_oracle)_(no_)?tools)', '\1_run' || coalesce(run::varchar, '')) as condition)
from craft_game_facts;

-- craft_models: CRAFT teams with the columns of the reference table, and the condition in front of them.
-- One row is (condition, model, builder, run). Conditions are never pooled; turn limits inside one condition are, because the published
-- folders do not tell them apart (leaderboard does). Standard errors are over games (sample standard deviation, ddof 1, / sqrt(n)) and null
-- below two games.
--   condition, model, builder, run
--   n_games  count  games that could be set up
--   n_turns  count  their turns
--   n_attempted, n_oracle_turns, n_clarify
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
--   tax_engine_layer_error, tax_engine_span_error, tax_engine_other_error, tax_wrong_position, tax_wrong_block_color, tax_wrong_span  0..1  likewise
create or replace view craft_models as
select
    condition, model, builder, run,
    count(overall_progress) as n_games,
    coalesce(sum(n_turns), 0)::bigint as n_turns,
    coalesce(sum(n_attempted), 0)::bigint as n_attempted,
    coalesce(sum(n_oracle_turns), 0)::bigint as n_oracle_turns,
    coalesce(sum(n_clarify), 0)::bigint as n_clarify,
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
    attempted_remove_rate_pooled - oracle_remove_rate_any_pooled as remove_gap_any_pooled,
    avg(remove_gap_any) as remove_gap_any_mean_of_games,
    attempted_remove_rate_pooled - oracle_remove_rate_first_pooled as remove_gap_first_pooled,
    avg(remove_gap_first) as remove_gap_first_mean_of_games,
    attempted_remove_rate_pooled - oracle_remove_rate_share_pooled as remove_gap_share_pooled,
    avg(remove_gap_share) as remove_gap_share_mean_of_games,
    sum(n_followed_logged) / nullif(sum(n_oracle_turns), 0) as adherence_logged_pooled,
    sum(n_followed_full) / nullif(sum(n_oracle_turns), 0) as adherence_full_pooled,
    sum(columns('^tax_(correct|engine_.*|wrong_.*)$')) / nullif(sum(n_oracle_turns), 0) as '\0'
from craft_game_facts
group by condition, model, builder, run;
