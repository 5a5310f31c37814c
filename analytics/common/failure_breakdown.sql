-- failure_breakdown: how often each failure category occurs.
-- One row is (taxonomy, benchmark, condition, model, level, category). Every category that a taxonomy has anywhere in the store has a row in
-- each of its groups, so that a zero is seen as a zero.
--   taxonomy  text  name of the taxonomy
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   level  text  the task's tier; null if the log does not say
--   category  text  category inside the taxonomy, the one of turns that went right included
--   turns  count  turns (of an agent, where agents are told apart) with this category; a turn can have several; null where no turn counts,
--                 so that nothing is known
--   denominator  count  such turns with any category that counts (CRAFT: turns with candidates and a recorded move)
--   games  count  games with such turns
--   share  0..1  turns / denominator; null for a category outside the denominator, and if that is 0
--   share_low  0..1  lower end of its 95 % interval over games (clustered_low); null where share is, and below two games
--   share_high  0..1  upper end; null where share is
--   is_default  flag  it is the taxonomy that is shown where none is asked for (default_taxonomies)
-- Report: failures, ordered by taxonomy, model, condition, level, category
-- Shows: taxonomy, model, category, turns, share
-- Reads: failure_turns, default_taxonomies, intervals.
create or replace view failure_breakdown as

with game_counts as (
    select taxonomy, benchmark, condition, model, level, category, counted, episode_id, count(*) as turns
    from failure_turns
    group by all
),

game_sizes as (
    select
        taxonomy,
        benchmark,
        condition,
        model,
        level,
        episode_id,
        count(distinct (turn, agent)) filter (counted) as size
    from failure_turns
    group by all
),

counts as (
    select
        game_counts.taxonomy,
        game_counts.benchmark,
        game_counts.condition,
        game_counts.model,
        game_counts.level,
        game_counts.category,
        sum(turns)::bigint as turns,
        sum(turns * turns) as turns_squared,
        sum(turns * size) as turns_by_sizes
    from game_counts
    inner join game_sizes
        on game_counts.taxonomy = game_sizes.taxonomy
        and game_counts.episode_id = game_sizes.episode_id
    group by all
),

groups as (
    select
        taxonomy,
        benchmark,
        condition,
        model,
        level,
        sum(size)::bigint as denominator,
        count(*) filter (size > 0) as games,
        sum(size * size) as sizes_squared
    from game_sizes
    group by all
),

categories as (
    select distinct taxonomy, category, counted
    from game_counts
),

filled as (
    select
        groups.*,
        categories.category,
        categories.counted,
        coalesce(counts.turns, 0) as turns,
        coalesce(counts.turns_squared, 0) as turns_squared,
        coalesce(counts.turns_by_sizes, 0) as turns_by_sizes
    from groups
    inner join categories using (taxonomy)
    left join counts
        on groups.taxonomy = counts.taxonomy
        and groups.benchmark = counts.benchmark
        and groups.condition = counts.condition
        and groups.model = counts.model
        and groups.level is not distinct from counts.level
        and categories.category = counts.category
)

select
    filled.taxonomy,
    filled.benchmark,
    condition,
    model,
    level,
    category,
    case when not counted or denominator > 0 then turns end as turns,
    denominator,
    games,
    case when counted then turns / nullif(denominator, 0) end as share,
    case when counted then clustered_low(turns, nullif(denominator, 0), games, turns_squared, turns_by_sizes, sizes_squared) end as share_low,
    case when counted then clustered_high(turns, nullif(denominator, 0), games, turns_squared, turns_by_sizes, sizes_squared) end as share_high,
    default_taxonomies.taxonomy is not null as is_default
from filled
left join default_taxonomies on filled.benchmark = default_taxonomies.benchmark and filled.taxonomy = default_taxonomies.taxonomy;
