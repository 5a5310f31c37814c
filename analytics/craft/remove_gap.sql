-- craft_removal_turns: who removed a block, and whether a removal would have helped, as the log of a game states it.
-- One row is a turn of a CRAFT game.
-- Materialized: by game
create or replace view craft_removal_turns as
with moves as (
    select episode_id, turn, verb = 'remove' as attempted_remove
    from unmaterialized('actions')
    where verb not in ('clarify', 'unreadable')
),

candidates as (
    select
        episode_id, turn,
        count(*) filter (listed) as n_listed,
        count(*) filter (listed and undoes) as n_listed_remove,
        coalesce(bool_or(undoes) filter (listed and rank = 1), false) as first_is_remove
    from unmaterialized('oracle_actions')
    group by all
)

select
    turns.episode_id, turns.turn, moves.attempted_remove,
    coalesce(turns.oracle_available and moves.attempted_remove is not null, false) as oracle_available,
    coalesce(candidates.n_listed, 0) as n_oracle,
    case when candidates.n_listed > 0 then candidates.n_listed_remove > 0 end as oracle_remove_any,
    case when candidates.n_listed > 0 then candidates.first_is_remove end as oracle_remove_first,
    case when candidates.n_listed > 0 then candidates.n_listed_remove / candidates.n_listed end as oracle_remove_share
from unmaterialized('turns') as turns
inner join episodes using (episode_id)
left join moves using (episode_id, turn)
left join candidates
    on moves.episode_id = candidates.episode_id and moves.turn = candidates.turn
where episodes.benchmark = 'craft';

-- craft_removals: who removed a block, and whether a removal would have helped, turn by turn: the part of craft_turn_facts for the remove gap.
-- One row is a turn of a CRAFT game.
create or replace view craft_removals as
select
    removals.episode_id, episodes.level, run_conditions.condition, episodes.model,
    episodes.team ->> 'builder' as builder,
    removals.* exclude (episode_id)
from craft_removal_turns as removals
inner join episodes using (episode_id)
inner join run_conditions using (run_id);

-- remove_gap_by: attempted against oracle removal, turn by turn, in a chosen reading, over the targets of some tiers; a table macro: `from remove_gap_by('any')`.
-- One row is (condition, model, builder, turn).
-- Parameters: reading: any, first or share, what counts as the oracle's removal rate on a turn (docs/dev/remove_gap.md); levels: list of the tiers that count, null for all.
create or replace macro remove_gap_by(reading, levels := null) as table
with readings as (
    select
        condition, model, builder, turn, attempted_remove,
        n_oracle > 0 as has_candidates,
        case reading
            when 'any' then oracle_remove_any::int
            when 'first' then oracle_remove_first::int
            when 'share' then oracle_remove_share
            else error('remove_gap_by: no reading "' || reading || '"; choose any, first or share')
        end as oracle_remove
    from craft_removals
    where levels is null or list_contains(levels, level)
),

rates as (
    select
        condition, model, builder, turn,
        count(*) filter (has_candidates) as n,
        count(attempted_remove) as n_attempted,
        count(*) filter (attempted_remove) as n_attempted_remove,
        avg(oracle_remove) as oracle_rate,
        avg(attempted_remove::int) as attempted_rate,
        avg(attempted_remove::int) filter (has_candidates) as paired_rate
    from readings
    group by all
)

select * exclude (paired_rate), attempted_rate - oracle_rate as gap, paired_rate - oracle_rate as paired_gap from rates;

-- remove_gap_instructed: the remove gap of what directors ask for, by team, from the claims that a reader has stored.
-- One row is (condition, model, builder, reader).
-- Report: remove-gap-instructed, ordered by gap desc nulls last, model, condition, builder, reader
-- Shows: model, condition, reader, turns, unread_turns, instructed_rate, oracle_rate, gap, gap_low, gap_high
create or replace view remove_gap_instructed as
with received as (
    select utterances.episode_id, turn, seq, md5(text) as text_hash
    from utterances
    inner join agents
        on utterances.episode_id = agents.episode_id and utterances.agent = agents.agent
    where
        agents.role = 'director'
        and channel = 'public'
        and not superseded
        -- what the log has where a director wrote nothing
        and trim(replace(text, '</message>', '')) not in ('', 'No message provided', 'I need a moment to analyze the situation.')
),

readers as (
    select distinct episode_id, reader from claims
),

messages as (
    select
        received.episode_id, received.turn, received.seq, readers.reader,
        coalesce(bool_or(claims.kind = 'unread' and json_contains(claims.claim -> 'may_hold', '"request"')), false)
        or count(claims.kind) = 0 as is_open,
        count(*) filter (claims.certain and claims.kind = 'request' and wanted_now) as n_asked,
        count(*) filter (claims.certain and claims.kind = 'request' and wanted_now and claims.claim ->> 'verb' <> 'place') as n_removals
    from received
    inner join readers using (episode_id)
    left join
        (
            select
                *,
                coalesce(claim ->> 'when', 'now') = 'now'
                and claim ->> 'condition' is null
                and coalesce(claim ->> 'retracted', 'false') = 'false' as wanted_now
            from claims
        ) as claims
        on
            received.episode_id = claims.episode_id
            and received.turn = claims.turn
            and received.seq = claims.seq
            and readers.reader = claims.reader
            and received.text_hash = claims.text_hash
    group by all
),

asked as (
    select
        episode_id, turn, reader,
        bool_or(is_open) as is_open,
        sum(n_removals) / nullif(sum(n_asked), 0) as instructed
    from messages
    group by all
),

turns_of as (
    select
        craft_removals.episode_id, craft_removals.condition, craft_removals.model, craft_removals.builder, asked.reader,
        asked.is_open,
        case when not asked.is_open then asked.instructed end as instructed,
        craft_removals.oracle_remove_share as oracle,
        craft_removals.attempted_remove, compared_games.task
    from craft_removals
    inner join asked using (episode_id, turn)
    left join compared_games using (episode_id)
    where craft_removals.n_oracle > 0
),

clustered as (
    select
        *,
        case when min(task) over team = max(task) over team then episode_id else task end as cluster
    from turns_of
    window team as (partition by condition, model, builder, reader)
),

by_target as (
    select
        condition, model, builder, reader, cluster,
        count(distinct episode_id) filter (instructed is not null) as games,
        count(*) filter (is_open) as unread_turns,
        count(*) filter (not is_open and instructed is null) as silent_turns,
        count(instructed) as n,
        coalesce(sum(instructed), 0) as sum_instructed,
        coalesce(sum(oracle) filter (instructed is not null), 0) as sum_oracle,
        count(*) filter (attempted_remove and instructed is not null) as n_attempted_remove,
        (sum_instructed - sum_oracle + n) / 2 as k
    from clustered
    group by all
)

select
    condition, model, builder, reader,
    sum(games)::bigint as games,
    sum(n)::bigint as turns,
    sum(silent_turns)::bigint as silent_turns,
    sum(unread_turns)::bigint as unread_turns,
    sum(sum_instructed) / nullif(sum(n), 0) as instructed_rate,
    sum(sum_oracle) / nullif(sum(n), 0) as oracle_rate,
    sum(n_attempted_remove) / nullif(sum(n), 0) as attempted_rate,
    instructed_rate - oracle_rate as gap,
    2 * cluster_low(k, n) - 1 as gap_low,
    2 * cluster_high(k, n) - 1 as gap_high
from by_target
group by all;

-- remove_gap_models_by: attempted against oracle removal for each team, in every reading, over the targets of some tiers; a table macro.
-- One row is (condition, model, builder, reading).
-- Parameters: levels: list of the tiers that count, null for all.
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
        episodes.episode_id, run_conditions.condition, episodes.model,
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
        condition, model, builder, reading,
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
        condition, model, builder, reading,
        2 * cluster_sem(k, n) as gap_sem,
        2 * cluster_low(k, n) - 1 as gap_low,
        2 * cluster_high(k, n) - 1 as gap_high
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

-- remove_gap: attempted against oracle removal, turn by turn, in the default reading, `share` (argued in docs/dev/remove_gap.md).
-- One row is (condition, model, builder, turn).
-- Columns as in: remove_gap_by.
-- Report: remove-gap-turns, ordered by model, condition, builder, turn
-- Shows: model, condition, turn, n, oracle_rate, attempted_rate, gap
create or replace view remove_gap as
select * from remove_gap_by('share');

-- remove_gap_models: attempted against oracle removal for each team, in every reading.
-- One row is (condition, model, builder, reading).
-- Columns as in: remove_gap_models_by.
-- Report: remove-gap, ordered by reading, gap desc nulls last, model, condition
-- Shows: model, condition, reading, games, attempted_rate, oracle_rate, gap
create or replace view remove_gap_models as
select * from remove_gap_models_by();
