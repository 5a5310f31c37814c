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
-- Reads: game_failures, games, intervals.
create or replace view failures_common as

with counted as (
    select games.benchmark, games.condition, games.model, game_failures.*
    from game_failures
    inner join games using (episode_id)
),

game_sizes as (
    select benchmark, condition, model, episode_id, any_value(classified_turns) as size
    from counted
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

kinds as (
    select
        benchmark,
        condition,
        model,
        common,
        sum(turns)::bigint as turns,
        sum(turns * turns) as turns_squared,
        sum(turns * classified_turns) as turns_by_sizes
    from counted
    where common <> 'none'
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
