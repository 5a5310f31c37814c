-- craft_structures: what is fixed about each CRAFT target before anybody plays, for the targets that were played.
-- One row is (structure_id, the facts below): two targets of one name, out of two datasets, have a row each.
--   structure_id  text  the target
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
-- Reads: episodes, episode_metrics.
create or replace view craft_structures as

with facts as (
    select
        episode_id,
        max(value) filter (metric = 'craft.structure.blocks_total')::bigint as blocks_total,
        max(value) filter (metric = 'craft.structure.height_1_1')::bigint as height_1_1,
        max(value) filter (metric = 'craft.structure.height_2_1')::bigint as height_2_1,
        max(value) filter (metric = 'craft.structure.n_dominoes')::bigint as n_dominoes,
        max(value) filter (metric = 'craft.structure.n_physical_blocks')::bigint as n_physical_blocks,
        max(value) filter (metric = 'craft.structure.n_forbidden_dominoes')::bigint as n_forbidden_dominoes,
        max(value) filter (metric = 'craft.structure.completable') = 1 as completable,
        max(value) filter (metric = 'craft.structure.wall_cells_large_seen_as_small')::bigint as wall_cells_large_seen_as_small,
        max(value) filter (metric = 'craft.structure.initial_oracle_moves')::bigint as initial_oracle_moves,
        max(value) filter (metric = 'craft.structure.oracle_only_moves')::bigint as oracle_only_moves,
        max(value) filter (metric = 'craft.structure.progress_empty') as progress_empty,
        max(value) filter (metric = 'craft.structure.distance_empty') as distance_empty,
        max(value) filter (metric = 'craft.structure.ceiling_overall_progress') as ceiling_overall_progress,
        max(value) filter (metric = 'craft.structure.ceiling_completion') as ceiling_completion,
        max(value) filter (metric = 'craft.structure.ceiling_iou') as ceiling_iou,
        max(value) filter (metric = 'craft.structure.ceiling_position_accuracy') as ceiling_position_accuracy,
        max(value) filter (metric = 'craft.structure.ceiling_distance') as ceiling_distance
    from episode_metrics
    where starts_with(metric, 'craft.structure.')
    group by all
)

select distinct
    episodes.task_id as structure_id,
    episodes.level as complexity,
    facts.* exclude (episode_id)
from facts
inner join episodes using (episode_id);
