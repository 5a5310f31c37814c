-- failures_common: how often each kind of failure occurs, in the same words for every benchmark.
-- One row is (benchmark, condition, model, common).
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   common  text  kind of failure, as in failure_map; `unmapped` for categories of mapped taxonomies that failure_map does not list
--   turns  count  turns with at least one category of this kind
--   denominator  count  turns that a mapped taxonomy classifies and that count (failure_turns.counted)
--   games  count  games with such turns
--   share  0..1  turns / denominator; shares of one group may add up to more than 1, a turn can fail in several ways
--   share_low  0..1  lower end of its 95 % interval over games (clustered_low); null below two games
--   share_high  0..1  upper end
-- Report: failures-common, ordered by benchmark, model, condition, turns desc, common
-- Shows: benchmark, model, common, turns, share
-- Reads: failure_turns, failure_map, intervals.
create or replace view failures_common as

with mapped_taxonomies as (
    select distinct taxonomy from failure_map
),

classified as (
    select
        failure_turns.benchmark,
        failure_turns.condition,
        failure_turns.model,
        failure_turns.episode_id,
        failure_turns.turn,
        coalesce(failure_map.common, 'unmapped') as common
    from failure_turns
    inner join mapped_taxonomies using (taxonomy)
    left join failure_map using (taxonomy, category)
    where failure_turns.counted
),

game_sizes as (
    select benchmark, condition, model, episode_id, count(distinct turn) as size
    from classified
    group by all
),

groups as (
    select
        benchmark,
        condition,
        model,
        sum(size)::bigint as denominator,
        count(*) as games,
        sum(size * size) as sizes_squared
    from game_sizes
    group by all
),

game_kinds as (
    select benchmark, condition, model, episode_id, common, count(distinct turn) as turns
    from classified
    where common <> 'none'
    group by all
),

kinds as (
    select
        game_kinds.benchmark,
        game_kinds.condition,
        game_kinds.model,
        game_kinds.common,
        sum(turns)::bigint as turns,
        sum(turns * turns) as turns_squared,
        sum(turns * size) as turns_by_sizes
    from game_kinds
    inner join game_sizes using (episode_id)
    group by all
)

select
    kinds.* exclude (turns_squared, turns_by_sizes),
    groups.denominator,
    groups.games,
    kinds.turns / groups.denominator as share,
    clustered_low(kinds.turns, groups.denominator, games, turns_squared, turns_by_sizes, sizes_squared) as share_low,
    clustered_high(kinds.turns, groups.denominator, games, turns_squared, turns_by_sizes, sizes_squared) as share_high
from kinds
inner join groups using (benchmark, condition, model);
