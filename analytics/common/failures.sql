-- failure_map: which categories of the benchmarks' taxonomies are the same kind of failure; a table of data, each family has its part.
-- One row is (taxonomy, category).
create or replace view failure_map as
-- a family from another package may still use the former names
select
    taxonomy, category,
    case common
        when 'limited_search' then 'no_progress'
        when 'inefficient_inference' then 'wrong_inference'
        when 'flawed_pragmatics' then 'unhelpful_message'
        else common
    end as common,
    meaning, source,
    case common
        when 'no_progress' then 'limited_search'
        when 'unsupported_guess' then case category when 'misplay' then 'inefficient_inference' else 'limited_search' end
        when 'wrong_inference' then 'inefficient_inference'
        when 'unhelpful_message' then 'flawed_pragmatics'
        else common
    end as common_before
from every_family('failure_map')
union all by name
select taxonomy, category, common, meaning, 'docs/spirals.md' as source, common as common_before
from (
    values
    ('dialogue', 'none', 'none', 'a message that repeats nothing and leaves no question open'),
    ('dialogue', 'repeated_message', 'redundant_talk', 'the words of one of the agent''s last three messages'),
    ('dialogue', 'similar_message', 'redundant_talk', 'nine tenths of the words of one of the agent''s last three messages'),
    ('dialogue', 'repeated_call', 'no_progress', 'the agent''s last tool call again, with equal arguments'),
    ('dialogue', 'unanswered_question', 'unanswered_request', 'no other agent speaks after the question'),
    ('contradictions', 'none', 'none', 'a message that contradicts no earlier statement of its author, by labels or judges'),
    ('contradictions', 'contradicts_itself', 'wrong_inference', 'a message that contradicts an earlier statement of its author, by labels or judges')
) as of_dialogues(taxonomy, category, common, meaning);

-- game_failures: on how many turns of each game each kind of failure occurs, in the same words for every benchmark.
-- One row is (episode_id, common).
-- Materialized: by game
create or replace view game_failures as
with mapped_taxonomies as (
    select distinct taxonomy from failure_map
),

classified as (
    select failures.episode_id, failures.turn, coalesce(failure_map.common, 'unmapped') as common
    from unmaterialized('failures') as failures
    inner join mapped_taxonomies using (taxonomy)
    left join failure_map using (taxonomy, category)
    where failures.category <> 'no_oracle_or_attempt'
),

sizes as (
    select episode_id, count(distinct turn) as classified_turns
    from classified
    group by all
)

select classified.episode_id, classified.common, count(distinct classified.turn) as turns, sizes.classified_turns
from classified
inner join sizes using (episode_id)
group by all;

-- logged_failures: the category each turn has in each taxonomy, as far as its game's log alone tells.
-- One row is (turn, agent, taxonomy, category).
-- Materialized: by game
create or replace view logged_failures as
select episode_id, turn, agent, taxonomy, category, evidence from unmaterialized('failures')
union all by name
select episode_id, turn, agent, 'dialogue' as taxonomy, category, evidence from unmaterialized('dialogue_failures')
union all by name
select sent.episode_id, sent.turn, sent.agent, 'dialogue' as taxonomy, 'none' as category
from (select distinct episode_id, turn, agent from unmaterialized('dialogue_messages')) as sent
inner join unmaterialized('dialogue_games') as games using (episode_id)
where (sent.episode_id, sent.turn, sent.agent) not in (select (episode_id, turn, agent) from unmaterialized('dialogue_failures'));

-- logged_categories: on how many turns of each game each category of failure occurs, as far as its log alone tells.
-- One row is (episode_id, taxonomy, category), and one for all categories that count.
-- Materialized: by game
create or replace view logged_categories as
with logged as (
    select * from unmaterialized('logged_failures')
)

select episode_id, taxonomy, category, count(distinct (turn, agent)) as turns
from (
    select * from logged
    union all by name
    select * exclude (category) from logged
    where category <> 'no_oracle_or_attempt'
)
group by all;

-- game_taxonomies: how many turns of each game each taxonomy classifies, as far as its log alone tells; a turn counts once for each category.
-- One row is (episode_id, taxonomy).
-- Materialized: by game
create or replace view game_taxonomies as
select episode_id, taxonomy, sum(turns)::bigint as turns
from unmaterialized('logged_categories')
where category is not null
group by all;

-- failing_turns: whether a turn fails in a taxonomy, as far as its game's log alone tells.
-- One row is (episode_id, turn, taxonomy) with a category that counts (failure_turns.counted).
-- Materialized: by game
create or replace view failing_turns as
select logged.episode_id, logged.turn, logged.taxonomy, bool_or(is_wrong(failure_map.common, logged.category)) as fails
from unmaterialized('logged_failures') as logged
left join failure_map using (taxonomy, category)
where logged.category <> 'no_oracle_or_attempt'
group by all;

-- game_categories: on how many turns of each game each category of failure occurs, with `contradictions`, which come from labels and judges.
-- One row is (episode_id, taxonomy, category), and one for all categories that count.
-- Columns as in: logged_categories.
create or replace view game_categories as
select * from logged_categories
union all by name
select episode_id, taxonomy, category, count(*) as turns
from (
    select episode_id, 'contradictions' as taxonomy, unnest([null, if(contradicts, 'contradicts_itself', 'none')]) as category
    from contradictions_read
)
group by all;

-- failure_kinds: what each category that occurs means.
-- One row is (taxonomy, category).
create or replace view failure_kinds as
select
    taxonomy, category, failure_map.common,
    is_wrong(failure_map.common, category) as wrong
from (select distinct taxonomy, category from game_categories where category is not null)
left join failure_map using (taxonomy, category);

-- failure_turns: the category each turn has in each taxonomy.
-- One row is a row of `failures`: (turn, agent, taxonomy, category). Games without states have the taxonomy `dialogue` (dialogue_failures), in
-- which a turn without any of its categories is `none`; where labels or judges report contradictions, also `contradictions`.
create or replace view failure_turns as
select
    failures.episode_id, failures.turn, failures.agent, games.benchmark, games.condition, games.model, games.level,
    games.task_id, failures.taxonomy, failures.category,
    failures.category <> 'no_oracle_or_attempt' as counted,
    failures.evidence
from (
    select * from logged_failures
    union all by name
    select episode_id, turn, agent, 'contradictions' as taxonomy, if(contradicts, 'contradicts_itself', 'none') as category, evidence
    from contradictions_read
) as failures
inner join games using (episode_id);

-- failures_common: how often each kind of failure occurs, in the same words for every benchmark.
-- One row is (benchmark, condition, model, common).
-- Report: failures-common, ordered by benchmark, model, condition, turns desc, common
-- Shows: benchmark, model, common, turns, share
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
        benchmark, condition, model,
        sum(size)::bigint as denominator,
        count(*) as games,
        sum(size * size) as sizes_squared
    from game_sizes
    group by all
),

kinds as (
    select
        benchmark, condition, model, common,
        sum(turns)::bigint as turns,
        sum(turns * turns) as turns_squared,
        sum(turns * classified_turns) as turns_by_sizes
    from counted
    where common <> 'none'
    group by all
)

select
    kinds.* exclude (turns_squared, turns_by_sizes),
    groups.denominator, groups.games,
    kinds.turns / groups.denominator as share,
    clustered_low(kinds.turns, groups.denominator, games, turns_squared, turns_by_sizes, sizes_squared) as share_low,
    clustered_high(kinds.turns, groups.denominator, games, turns_squared, turns_by_sizes, sizes_squared) as share_high
from kinds
inner join groups using (benchmark, condition, model);

-- default_taxonomies: which taxonomy of failures is shown where none is asked for: the published one, else the one that classifies most turns.
-- How replies were read (names that end in _read or _grounding) comes last: that is about the game program. So do contradictions, which are
-- known only where people or judges have looked.
-- One row is a benchmark with classified turns.
create or replace view default_taxonomies as
select games.benchmark, taxonomy
from (
    select * from game_taxonomies
    union all by name
    select episode_id, 'contradictions' as taxonomy, count(*) as turns from contradictions_read group by all
)
inner join games using (episode_id)
group by games.benchmark, taxonomy
qualify
    row_number() over (
        partition by games.benchmark
        order by
            taxonomy like '%published' desc, regexp_matches(taxonomy, '_(read|grounding)$|^contradictions$'), sum(turns) desc, taxonomy
    ) = 1;

-- failures_by: how often each failure category occurs in the chosen games, by team or by another column; a table macro.
-- One row is (taxonomy, benchmark, condition, model, level, turn, category). Every category that a taxonomy has anywhere in these games has a row
-- in each group, so that a zero is seen as a zero.
-- Parameters: per: `team` for condition, model and level together, or `condition`, `model`, `level` or `turn` alone; the others are null; chosen:
-- condition on the columns of `games`, true for all of them.
create or replace macro failures_by(per := 'team', chosen := true) as table
with of_game as (
    select
        episode_id, benchmark,
        case when per in ('team', 'condition') then condition end as condition,
        case when per in ('team', 'model') then model end as model,
        case when per in ('team', 'level') then level end as level
    from games
    where chosen
),

game_counts as (
    select of_game.*, null::integer as turn, found.taxonomy, found.category, found.turns
    from game_categories as found
    inner join of_game using (episode_id)
    where per <> 'turn'
    union all by name
    select of_game.*, found.turn, found.taxonomy, found.category, count(distinct found.agent) as turns
    from (
        select episode_id, turn, taxonomy, unnest(if(counted, [null, category], [category])) as category, coalesce(agent, '') as agent
        from failure_turns
        where per = 'turn'
    ) as found
    inner join of_game using (episode_id)
    group by all
),

game_sizes as (
    select * exclude (category, turns), coalesce(max(turns) filter (category is null), 0) as size
    from game_counts
    group by all
),

counts as (
    select
        game_sizes.* exclude (episode_id, size), game_counts.category,
        sum(turns)::bigint as turns,
        sum(turns * turns) as turns_squared,
        sum(turns * size) as turns_by_sizes
    from game_counts
    inner join game_sizes
        on game_counts.taxonomy = game_sizes.taxonomy
        and game_counts.episode_id = game_sizes.episode_id
        and game_counts.turn is not distinct from game_sizes.turn
    where game_counts.category is not null
    group by all
),

groups as (
    select
        * exclude (episode_id, size),
        sum(size)::bigint as denominator,
        count(*) filter (size > 0) as games,
        sum(size * size) as sizes_squared
    from game_sizes
    group by all
),

categories as (
    select distinct taxonomy, category, category <> 'no_oracle_or_attempt' as counted
    from game_counts
    where category is not null
),

filled as (
    select
        groups.*,
        categories.category, categories.counted,
        coalesce(counts.turns, 0) as turns,
        coalesce(counts.turns_squared, 0) as turns_squared,
        coalesce(counts.turns_by_sizes, 0) as turns_by_sizes
    from groups
    inner join categories using (taxonomy)
    left join counts
        on groups.taxonomy = counts.taxonomy
        and groups.benchmark = counts.benchmark
        and groups.condition is not distinct from counts.condition
        and groups.model is not distinct from counts.model
        and groups.level is not distinct from counts.level
        and groups.turn is not distinct from counts.turn
        and categories.category = counts.category
)

select
    filled.taxonomy, filled.benchmark, condition, model, level, turn, category,
    case when not counted or denominator > 0 then turns end as turns,
    denominator, games,
    case when counted then turns / nullif(denominator, 0) end as share,
    case when counted then clustered_low(turns, nullif(denominator, 0), games, turns_squared, turns_by_sizes, sizes_squared) end as share_low,
    case when counted then clustered_high(turns, nullif(denominator, 0), games, turns_squared, turns_by_sizes, sizes_squared) end as share_high,
    default_taxonomies.taxonomy is not null as is_default
from filled
left join default_taxonomies on filled.benchmark = default_taxonomies.benchmark and filled.taxonomy = default_taxonomies.taxonomy;

-- failure_breakdown: how often each failure category occurs.
-- One row is (taxonomy, benchmark, condition, model, level, category).
-- Columns as in: failures_by.
-- Report: failures, ordered by taxonomy, model, condition, level, category
-- Shows: taxonomy, model, category, turns, share
create or replace view failure_breakdown as
select * exclude (turn) from failures_by();
