-- remove_gap_instructed: the remove gap of what directors ask for, team by team, out of the claims that a reader has stored.
-- One row is (condition, model, builder, reader).
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   reader  text  whose claims count, as in claims: `cotrace claims` stores those on which verdicts and attribution by that reader rest
--   games  count  games with a turn that counts
--   turns  count  turns that count: candidates are listed, the reader understood every message that the builder received, and they ask for something
--   silent_turns  count  turns with candidates whose messages, all understood, ask for nothing to be done now; they have no rate
--   unread_turns  count  turns with candidates in which a message was not read, or what it asks for was not understood; they have no rate
--   instructed_rate  0..1  mean over the turns of the share of removals and replacements among what the messages want done now; null if turns is 0
--   oracle_rate  0..1  mean over the same turns of the share of removals among the candidates (the reading `share`); null if turns is 0
--   attempted_rate  0..1  share of removals among the moves of the same turns; null if turns is 0
--   gap  -1..1  instructed_rate - oracle_rate; null if turns is 0
--   gap_low  -1..1  lower end of its 95 % interval over targets, and over games where there is one target alone (clustered_low); null below two games
--   gap_high  -1..1  upper end; null below two games
-- Report: remove-gap-instructed, ordered by gap desc nulls last, model, condition, builder, reader
-- Shows: model, condition, reader, turns, unread_turns, instructed_rate, oracle_rate, gap, gap_low, gap_high
-- Reads: claims, utterances, agents, craft_removals, compared_games, intervals.
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
        received.episode_id,
        received.turn,
        received.seq,
        readers.reader,
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
        episode_id,
        turn,
        reader,
        bool_or(is_open) as is_open,
        sum(n_removals) / nullif(sum(n_asked), 0) as instructed
    from messages
    group by all
),

turns_of as (
    select
        craft_removals.episode_id,
        craft_removals.condition,
        craft_removals.model,
        craft_removals.builder,
        asked.reader,
        asked.is_open,
        case when not asked.is_open then asked.instructed end as instructed,
        craft_removals.oracle_remove_share as oracle,
        craft_removals.attempted_remove,
        compared_games.task
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
        condition,
        model,
        builder,
        reader,
        cluster,
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
    condition,
    model,
    builder,
    reader,
    sum(games)::bigint as games,
    sum(n)::bigint as turns,
    sum(silent_turns)::bigint as silent_turns,
    sum(unread_turns)::bigint as unread_turns,
    sum(sum_instructed) / nullif(sum(n), 0) as instructed_rate,
    sum(sum_oracle) / nullif(sum(n), 0) as oracle_rate,
    sum(n_attempted_remove) / nullif(sum(n), 0) as attempted_rate,
    instructed_rate - oracle_rate as gap,
    2 * clustered_low(sum(k), sum(n), count(*) filter (n > 0), sum(k * k), sum(k * n), sum(n * n)) - 1 as gap_low,
    2 * clustered_high(sum(k), sum(n), count(*) filter (n > 0), sum(k * k), sum(k * n), sum(n * n)) - 1 as gap_high
from by_target
group by all;
