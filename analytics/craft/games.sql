-- craft_run_conditions: the condition of each CRAFT run as one short text, written as the published folders are.
-- One row is a run of CRAFT; counterfactual continuations (`cotrace replay`) have none; they are under the name of their run.
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
-- folders do not distinguish them (leaderboard does). Standard errors are over games (sample standard deviation, ddof 1, / sqrt(n)) and null
-- below two games.
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
