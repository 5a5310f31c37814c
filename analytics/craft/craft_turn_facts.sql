-- craft_turn_facts: everything countable about a CRAFT turn; craft_turns, craft_games and craft_models are made from it.
-- One row is a turn of a CRAFT game.
--   episode_id  text  the game
--   run_id      text  its run
--   level       text  complexity of the target; null if the log does not say
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   structure_id  text  the target
--   run  number  run index of the log; null if it has none
--   turn  number  from 1
--   n_directors  count  different directors who spoke
--   clarify  flag  the builder asked instead of moving; published logs store a reply that could not be read as a question
--   turn_error  text  exception that ended the game on this turn; null if none
--   action  text  place or remove; null without an attempt
--   block  text  block code as the engine understood it; null without an attempt and on removals from an empty cell
--   position  text  cell, such as (0,1); null without an attempt
--   layer  number  from 0; null without an attempt
--   span_to  text  second cell as written; null if none was given
--   move_executed  flag  the engine carried the move out; false on clarifications; null if the turn broke off
--   failed_move  flag  the engine refused the move; null without an attempt
--   error_category  text  layer, span or other, told from the message as the published code does; null if not refused
--   error  text  the engine's message; null if not refused
--   oracle_available  flag  the log lists candidates beside the move of this turn; false on clarifications
--   n_oracle  count  candidates that it lists; 0 on clarifications
--   n_oracle_replayed  count  all candidates by replay, before sampling
--   oracle_remove_any  flag  a listed candidate is a removal; null without listed candidates
--   oracle_remove_first  flag  the first listed candidate is a removal; null without listed candidates
--   oracle_remove_share  0..1  removals among the listed candidates; null without listed candidates
--   attempted_remove  flag  the attempted move is a removal; null without an attempt
--   followed_logged  flag  a listed candidate has the move's action, position and layer (the log's flag); null without listed candidates
--   followed_full  flag  accepted, and literally a listed candidate; null without listed candidates
--   followed_physical  flag  accepted, and doing what a listed candidate does; null without listed candidates
--   taxonomy_code  text  category of the published taxonomy
--   taxonomy_paper  text  its name in the paper's table; null outside the table's denominator
--   correct_structure_placement  flag  as logged: the target has this block there, or a removed block did not belong; null if not executed
--   correct_side_placement  flag  as logged: the same test over the directors who see the cell; null if not executed
--   overall_structure_correctness  flag  as logged: no block on the board is wrong; null if not executed
--   target_achieved  flag  as logged: the game was won on this turn; null if the turn broke off
--   board_changed  flag  the stacks after the turn differ from those before, stray cells included
--   repeats_previous_failed_move  flag  refused, with the action, position and layer of the move refused on the turn before
--   overall_progress  0..1  mean of iou_score, completion_percentage and position_accuracy after the turn
--   completion_percentage  0..1  right blocks at the right cell and layer, of the target's entries, after the turn
--   iou_score  0..1  intersection over union of the cells' block sets after the turn
--   position_accuracy  0..1  cells whose block set equals the target's, of nine, after the turn
--   distance_score  0..1  Soerensen-Dice of the cells' block sets after the turn; higher is better
--   n_oracle_remove  count  listed candidates that are removals
-- Reads: episodes, run_conditions, turns, actions, oracle_actions, turn_metrics, failures, utterances.
create or replace view craft_turn_facts as

with craft_episodes as (
    select
        episodes.episode_id,
        episodes.run_id,
        episodes.level,
        run_conditions.condition,
        episodes.model,
        episodes.team ->> 'builder' as builder,
        episodes.task_id as structure_id,
        episodes.seed as run
    from episodes
    inner join run_conditions using (run_id)
    where episodes.benchmark = 'craft'
),

speakers as (
    select episode_id, turn, count(distinct agent) as n_directors
    from utterances
    where agent <> 'Builder'
    group by all
),

parsed as (
    select
        episode_id,
        turn,
        verb,
        verb = 'clarify' as clarify,
        verb in ('clarify', 'unreadable') as still,
        verb = 'remove' as is_remove,
        accepted,
        error_text,
        json_transform(
            arguments, '{"block": "VARCHAR", "position": "VARCHAR", "layer": "BIGINT", "span_to": "VARCHAR"}'
        ) as move
    from actions
),

candidates as (
    select
        episode_id,
        turn,
        count(*) filter (listed) as n_listed,
        count(*) filter (verified) as n_verified,
        count(*) filter (listed and undoes) as n_listed_remove,
        coalesce(bool_or(undoes) filter (listed and rank = 1), false) as first_is_remove
    from oracle_actions
    group by all
),

numbers as (
    select
        episode_id,
        turn,
        max(value) filter (metric = 'craft.overall_progress') as overall_progress,
        max(value) filter (metric = 'craft.completion_percentage') as completion_percentage,
        max(value) filter (metric = 'craft.iou_score') as iou_score,
        max(value) filter (metric = 'craft.position_accuracy') as position_accuracy,
        max(value) filter (metric = 'craft.distance_score') as distance_score,
        max(value) filter (metric = 'craft.followed_full') = 1 as followed_full,
        max(value) filter (metric = 'craft.followed_physical') = 1 as followed_physical,
        max(value) filter (metric = 'craft.correct_structure_placement') = 1 as correct_structure_placement,
        max(value) filter (metric = 'craft.correct_side_placement') = 1 as correct_side_placement,
        max(value) filter (metric = 'craft.overall_structure_correctness') = 1 as overall_structure_correctness
    from turn_metrics
    group by all
),

paper_names as (
    select *
    from (values
        ('correct', 'correct'),
        ('engine_layer_error', 'engine-layer'),
        ('engine_span_error', 'engine-span'),
        ('engine_other_error', 'engine-other'),
        ('wrong_position', 'wrong-position'),
        ('wrong_block_color', 'wrong-color'),
        ('wrong_span', 'wrong-span')
    ) as names (category, taxonomy_paper)
),

categories as (
    select failures.episode_id, failures.turn, failures.category, paper_names.taxonomy_paper
    from failures
    left join paper_names using (category)
    where failures.taxonomy = 'craft_published'
),

joined as (
    select
        craft_episodes.*,
        turns.turn,
        coalesce(speakers.n_directors, 0) as n_directors,
        coalesce(parsed.clarify, false) as clarify,
        turns.error as turn_error,
        case when not parsed.still then parsed.verb end as action,
        case when not parsed.still then parsed.move end as move,
        case when parsed.still then false else parsed.accepted end as move_executed,
        case when not parsed.still then not parsed.accepted end as failed_move,
        case
            when contains(lower(parsed.error_text), 'layer') then 'layer'
            when contains(lower(parsed.error_text), 'span') then 'span'
            when parsed.error_text is not null then 'other'
        end as error_category,
        parsed.error_text as error,
        -- the published logs list candidates only beside a move, cotrace's own always: rates count those of moves
        coalesce(turns.oracle_available and not parsed.still, false) as oracle_available,
        coalesce(case when not parsed.still then candidates.n_listed end, 0) as n_oracle,
        coalesce(candidates.n_verified, 0) as n_oracle_replayed,
        coalesce(case when not parsed.still then candidates.n_listed_remove end, 0) as n_oracle_remove,
        candidates.first_is_remove,
        case when not parsed.still then parsed.is_remove end as attempted_remove,
        turns.oracle_followed as followed_logged,
        numbers.followed_full,
        numbers.followed_physical,
        categories.category as taxonomy_code,
        categories.taxonomy_paper,
        numbers.correct_structure_placement,
        numbers.correct_side_placement,
        numbers.overall_structure_correctness,
        turns.goal_reached as target_achieved,
        (turns.state_before ->> '$.stacks') <> (turns.state_after ->> '$.stacks') as board_changed,
        numbers.overall_progress,
        numbers.completion_percentage,
        numbers.iou_score,
        numbers.position_accuracy,
        numbers.distance_score
    from craft_episodes
    inner join turns using (episode_id)
    left join parsed using (episode_id, turn)
    left join speakers using (episode_id, turn)
    left join candidates using (episode_id, turn)
    left join numbers using (episode_id, turn)
    left join categories using (episode_id, turn)
)

select
    current.episode_id,
    current.run_id,
    current.level,
    current.condition,
    current.model,
    current.builder,
    current.structure_id,
    current.run,
    current.turn,
    current.n_directors,
    current.clarify,
    current.turn_error,
    current.action,
    current.move.block as block,
    current.move.position as position,
    current.move.layer as layer,
    current.move.span_to as span_to,
    current.move_executed,
    current.failed_move,
    current.error_category,
    current.error,
    current.oracle_available,
    current.n_oracle,
    current.n_oracle_replayed,
    case when current.n_oracle > 0 then current.n_oracle_remove > 0 end as oracle_remove_any,
    case when current.n_oracle > 0 then current.first_is_remove end as oracle_remove_first,
    case when current.n_oracle > 0 then current.n_oracle_remove / current.n_oracle end as oracle_remove_share,
    current.attempted_remove,
    current.followed_logged,
    current.followed_full,
    current.followed_physical,
    current.taxonomy_code,
    current.taxonomy_paper,
    current.correct_structure_placement,
    current.correct_side_placement,
    current.overall_structure_correctness,
    current.target_achieved,
    current.board_changed,
    coalesce(
        current.failed_move
        and previous.verb = current.action
        and previous.move.position = current.move.position
        and previous.move.layer = current.move.layer,
        false
    ) as repeats_previous_failed_move,
    current.overall_progress,
    current.completion_percentage,
    current.iou_score,
    current.position_accuracy,
    current.distance_score,
    current.n_oracle_remove
from joined as current
left join parsed as previous
    on current.episode_id = previous.episode_id and current.turn = previous.turn + 1 and not previous.accepted;
