-- leaderboard_by: how far each team got, with its uncertainty, over the tasks of some tiers; a table macro: `from leaderboard_by(['simple'])`.
-- One row is (benchmark, condition, model, team, max_turns).
-- Parameters: levels: list of the tiers that count, null for all.
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   team  JSON  object role -> model
--   max_turns  turns  turn limit; null if the logs do not say
--   games  count  games, those that could not be set up included
--   broken  count  games that could not be set up; in no other number of the row
--   cut  count  games whose end is not known (see `games`); in no other number of the row
--   n  count  games that ended
--   score_mean  number  mean over the n games of the benchmark's main end-to-end metric (CRAFT: overall_progress, 0..1); null if n is 0
--   score_sem  number  its standard error (sample standard deviation, ddof 1, / sqrt(n)); null below two games
--   score_low  number  lower end of its 95 % t interval, cut to no bounds; null below two games
--   score_high  number  upper end; null below two games
--   successes  count  games that reached the goal, of the n
--   success_rate  0..1  successes / n; null if n is 0
--   success_low  0..1  lower end of its 95 % Wilson interval; null if n is 0
--   success_high  0..1  upper end; null if n is 0
--   ceiling_n  count  games whose reachable score is known
--   ceiling_share_mean  number  mean over them of score over what verified actions can reach; null if there are none
--   ceiling_share_sem  number  its standard error; null below two games
--   turns  count  turns of the n games
--   attempted  count  actions that the engine had to accept or refuse
--   failed  count  actions among them that it refused
--   failed_rate  0..1  failed / attempted; null if attempted is 0
--   clarify  count  turns on which somebody asked and nobody acted
--   clarify_rate  0..1  clarify / turns; null if turns is 0
--   oracle_turns  count  turns with listed candidates and an attempt
--   followed  count  turns among them with the log's followed flag
--   adherence  0..1  followed / oracle_turns; null if that is 0
--   followed_full  count  CRAFT: turns among them on which a candidate was literally carried out; null elsewhere
--   adherence_full  0..1  CRAFT: followed_full / oracle_turns; null if that is 0, and elsewhere
--   undoing  count  attempted moves that take back earlier work, at most one a turn
--   undoing_rate  0..1  undoing / turns with a move; null if there are none
-- Reads: games, episodes, episode_metrics, actions, outcomes, intervals.
create or replace macro leaderboard_by(levels := null) as table

with ceilings as (
    select episode_id, value as ceiling_share
    from episode_metrics
    where metric like '%.progress_share_of_ceiling'
),

attempts as (
    select episode_id, count(accepted) as attempted, count(*) filter (not accepted) as failed
    from actions
    group by all
),

turn_counts as (
    select
        episode_id,
        count(*) as turns,
        count(*) filter (outcome = 'clarify') as clarify,
        count(*) filter (outcome in ('followed', 'not_followed')) as oracle_turns,
        count(*) filter (outcome = 'followed') as followed,
        count(*) filter (followed_full) as followed_full,
        count(*) filter (undoes) as undoing,
        count(undoes) as moves
    from outcomes
    group by all
),

-- games that did not end are counted, and have nothing else to add
played as (
    select
        games.* exclude (score, success, episode_id),
        episodes.max_turns,
        case when games.ending = 'ended' then games.episode_id end as episode_id,
        case when games.ending = 'ended' then games.score end as score,
        case when games.ending = 'ended' then games.success end as success
    from games
    inner join episodes using (episode_id)
    where levels is null or list_contains(levels, games.level)
),

summed as (
    select
        played.benchmark,
        played.condition,
        played.model,
        played.team,
        played.max_turns,
        count(*) as games,
        count(*) filter (played.ending = 'not_set_up') as broken,
        count(*) filter (played.ending = 'cut') as cut,
        count(played.score) as n,
        avg(played.score) as score_mean,
        stddev_samp(played.score) / sqrt(count(played.score)) as score_sem,
        count(*) filter (played.success) as successes,
        count(ceilings.ceiling_share) as ceiling_n,
        avg(ceilings.ceiling_share) as ceiling_share_mean,
        stddev_samp(ceilings.ceiling_share) / sqrt(count(ceilings.ceiling_share)) as ceiling_share_sem,
        coalesce(sum(turn_counts.turns), 0)::bigint as turns,
        coalesce(sum(attempts.attempted), 0)::bigint as attempted,
        coalesce(sum(attempts.failed), 0)::bigint as failed,
        coalesce(sum(turn_counts.clarify), 0)::bigint as clarify,
        coalesce(sum(turn_counts.oracle_turns), 0)::bigint as oracle_turns,
        coalesce(sum(turn_counts.followed), 0)::bigint as followed,
        case when played.benchmark = 'craft' then coalesce(sum(turn_counts.followed_full), 0)::bigint end as followed_full,
        coalesce(sum(turn_counts.undoing), 0)::bigint as undoing,
        sum(turn_counts.moves) as moves
    from played
    left join ceilings using (episode_id)
    left join attempts using (episode_id)
    left join turn_counts using (episode_id)
    group by played.benchmark, played.condition, played.model, played.team, played.max_turns
)

select
    benchmark,
    condition,
    model,
    team,
    max_turns,
    games,
    broken,
    cut,
    n,
    score_mean,
    score_sem,
    score_mean - t_critical(n - 1) * score_sem as score_low,
    score_mean + t_critical(n - 1) * score_sem as score_high,
    successes,
    successes / nullif(n, 0) as success_rate,
    wilson_low(successes, n) as success_low,
    wilson_high(successes, n) as success_high,
    ceiling_n,
    ceiling_share_mean,
    ceiling_share_sem,
    turns,
    attempted,
    failed,
    failed / nullif(attempted, 0) as failed_rate,
    clarify,
    clarify / nullif(turns, 0) as clarify_rate,
    oracle_turns,
    followed,
    followed / nullif(oracle_turns, 0) as adherence,
    followed_full,
    followed_full / nullif(oracle_turns, 0) as adherence_full,
    undoing,
    undoing / nullif(moves, 0) as undoing_rate
from summed;
