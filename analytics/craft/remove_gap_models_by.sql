-- remove_gap_models_by: attempted against oracle removal for each team, in every reading, over the targets of some tiers; a table macro.
-- One row is (condition, model, builder, reading).
-- Parameters: levels: list of the tiers that count, null for all.
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   reading  text  any, first or share (docs/remove_gap.md)
--   is_default  flag  the reading that the view remove_gap uses
--   games  count  games that have a gap (a recorded move, and a turn with candidates)
--   n_attempted  count  turns with a recorded move
--   n_attempted_remove  count  removals among these moves
--   n_oracle_turns  count  turns with listed candidates
--   attempted_rate  0..1  n_attempted_remove / n_attempted; null if that is 0
--   oracle_rate  0..1  mean of the reading over the turns with candidates; null if there is none
--   gap  -1..1  attempted_rate - oracle_rate, turns pooled; null where either is
--   gap_mean_of_games  -1..1  mean of the games' own gaps; null if games is 0
--   gap_sem  number  its standard error over targets (clustered_sem; with one game a target it is that of the sample); null below two games
--   gap_low  -1..1  lower end of its 95 % interval over targets, and over games where there is one target alone (clustered_low); null below two games
--   gap_high  -1..1  upper end; null below two games
-- Reads: craft_removals, compared_games, episodes, run_conditions, intervals.
create or replace macro remove_gap_models_by(levels := null) as table

with counted as (
    select
        episode_id,
        count(attempted_remove) as n_attempted,
        count(*) filter (attempted_remove) as n_attempted_remove,
        count(*) filter (oracle_available) as n_oracle_turns,
        count(*) filter (oracle_remove_any) as n_oracle_remove_any,
        count(*) filter (oracle_remove_first) as n_oracle_remove_first,
        sum(oracle_remove_share) as sum_oracle_remove_share
    from craft_removals
    where levels is null or list_contains(levels, level)
    group by all
),

-- a game without turns has nothing to add, but its team has a row
chosen as (
    select
        episodes.episode_id,
        run_conditions.condition,
        episodes.model,
        episodes.team ->> 'builder' as builder,
        counted.* exclude (episode_id),
        compared_games.task
    from episodes
    inner join run_conditions using (run_id)
    left join counted using (episode_id)
    left join compared_games using (episode_id)
    where episodes.benchmark = 'craft' and (levels is null or list_contains(levels, episodes.level))
),

readings as (
    select
        facts.*,
        reading,
        case reading
            when 'any' then n_oracle_remove_any
            when 'first' then n_oracle_remove_first
            else sum_oracle_remove_share
        end as oracle_remove,
        n_attempted_remove / nullif(n_attempted, 0) - oracle_remove / nullif(n_oracle_turns, 0) as game_gap
    from chosen as facts
    cross join (values ('any'), ('first'), ('share')) as names (reading)
),

summed as (
    select
        condition,
        model,
        builder,
        reading,
        reading = 'share' as is_default,
        count(game_gap) as games,
        coalesce(sum(n_attempted), 0)::bigint as n_attempted,
        coalesce(sum(n_attempted_remove), 0)::bigint as n_attempted_remove,
        coalesce(sum(n_oracle_turns), 0)::bigint as n_oracle_turns,
        sum(n_attempted_remove) / nullif(sum(n_attempted), 0) as attempted_rate,
        sum(oracle_remove) / nullif(sum(n_oracle_turns), 0) as oracle_rate,
        attempted_rate - oracle_rate as gap,
        avg(game_gap) as gap_mean_of_games
    from readings
    group by all
),

clustered as (
    select
        *,
        case when min(task) over team = max(task) over team then episode_id else task end as cluster
    from readings
    where game_gap is not null
    window team as (partition by condition, model, builder, reading)
),

by_target as (
    select condition, model, builder, reading, cluster, count(*) as n, sum((game_gap + 1) / 2) as k
    from clustered
    group by all
),

over_targets as (
    select
        condition,
        model,
        builder,
        reading,
        2 * clustered_sem(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) as gap_sem,
        2 * clustered_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) - 1 as gap_low,
        2 * clustered_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) - 1 as gap_high
    from by_target
    group by all
)

select summed.*, gap_sem, gap_low, gap_high
from summed
left join over_targets
    on summed.condition is not distinct from over_targets.condition
    and summed.model is not distinct from over_targets.model
    and summed.builder is not distinct from over_targets.builder
    and summed.reading = over_targets.reading;
