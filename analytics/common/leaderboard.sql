-- game_counts: what leaderboard_by and team_overview_by count of each game.
-- One row is a game with turns.
-- Materialized: by game
create or replace view game_counts as
-- what the harness chose or tried too early is not an attempt of the team
with by_harness as (
    select distinct failures.episode_id, failures.turn, failures.agent
    from unmaterialized('failures') as failures
    inner join failure_map on failures.taxonomy = failure_map.taxonomy and failures.category = failure_map.category
    where failure_map.common = 'harness' and failures.category <> 'dropped_plan'
),

attempts as (
    select actions.episode_id, count(actions.accepted) as attempted, count(*) filter (not actions.accepted) as failed
    from unmaterialized('actions') as actions
    left join by_harness
        on actions.episode_id = by_harness.episode_id
            and actions.turn = by_harness.turn
            and actions.agent = by_harness.agent
            and not actions.accepted
    where by_harness.agent is null
    group by all
),

turn_counts as (
    select
        episode_id,
        count(*) as turns,
        count(*) filter (outcome = 'clarify') as clarify,
        count(*) filter (outcome in ('followed', 'not_followed')) as oracle_turns,
        count(*) filter (outcome = 'followed') as followed,
        count(*) filter (followed_action_position_layer) as followed_action_position_layer,
        count(followed_action_position_layer) > 0 as has_looser_reading,
        count(*) filter (undoes) as undoing,
        count(undoes) as moves
    from unmaterialized('turn_outcomes') as turn_outcomes
    group by all
),

inside as (
    select episode_id, count(in_spiral) as spiral_turns, count(*) filter (in_spiral) as spiral_inside
    from unmaterialized('turn_course') as turn_course
    group by all
)

select
    turn_counts.*,
    case when seen.episode_id is not null then turn_counts.turns else 0 end as seen,
    coalesce(attempts.attempted, 0) as attempted,
    coalesce(attempts.failed, 0) as failed,
    coalesce(inside.spiral_turns, 0) as spiral_turns,
    coalesce(inside.spiral_inside, 0) as spiral_inside
from turn_counts
left join attempts using (episode_id)
left join inside using (episode_id)
left join unmaterialized('recorded_games') as seen using (episode_id);

-- leaderboard_by: how far each team got, with its uncertainty, in the chosen games; a table macro: `from leaderboard_by(['simple'])`.
-- One row is (benchmark, condition, model, team, team_name, max_turns, level). Tasks are what is sampled: intervals are over tasks, so that
-- playing a task again does not narrow them; in a row with one task they are over its games, and hold for that task alone. A game that the store
-- has twice counts once (compared_games).
-- Parameters: levels: list of the tiers that count, null for all; families: map of tasks to their families, which count in their place;
-- chosen: condition on the columns of `games`, true for all of them; per: `team`, or `condition`, `model` or `level` for one of these alone: the others
-- are null, as the level is per team.
create or replace macro leaderboard_by(
    levels := null, families := map([]::varchar[], []::varchar[]), chosen := true, per := 'team'
) as table
with ceilings as (
    select episode_id, value as ceiling_share
    from episode_metrics
    where metric like '%.progress_share_of_ceiling'
),

-- games that did not end are counted, and have nothing else to add
played as (
    select
        benchmark, game, task, score_max, ending,
        case when per in ('team', 'condition') then condition end as condition,
        case when per in ('team', 'model') then model end as model,
        case when per = 'team' then team end as team,
        case when per = 'team' then team_name end as team_name,
        case when per = 'team' then max_turns end as max_turns,
        case when per = 'level' then level end as level,
        case when ending = 'ended' then episode_id end as episode_id,
        case when ending = 'ended' then score end as score,
        case when ending = 'ended' then success end as success
    from compared_games
    where (levels is null or list_contains(levels, compared_games.level)) and chosen
),

-- in a row with a single task the games vary
clustered as (
    select *, case when min(task) over row_of_board = max(task) over row_of_board then episode_id else coalesce(families[task], task) end as cluster
    from played
    where episode_id is not null
    window row_of_board as (partition by benchmark, condition, model, team, team_name, max_turns, level)
),

by_task as (
    select
        benchmark, condition, model, team, team_name, max_turns, level, cluster,
        any_value(task) as task,
        max(score_max) as score_max,
        count(score) as n,
        coalesce(sum(score), 0) as total,
        count(ceiling_share) as ceiling_n,
        coalesce(sum(ceiling_share), 0) as ceiling_total,
        coalesce(sum(score), 0) / max(score_max) as share,
        count(*) filter (success) as successes,
        count(success) as success_n
    from clustered
    left join ceilings using (episode_id)
    group by all
),

over_tasks as (
    select
        benchmark, condition, model, team, team_name, max_turns, level,
        count(distinct task) as tasks,
        sum(n) as n,
        max(success_n) as most,
        max(score_max) as score_max,
        cluster_sem(total, n) as score_sem,
        cluster_low(share, n) as share_low,
        cluster_high(share, n) as share_high,
        cluster_sem(ceiling_total, ceiling_n) as ceiling_share_sem,
        t_critical(greatest(sum(n) ** 2 / nullif(sum(n * n), 0) - 1, 1)) as t,
        cluster_low(successes, success_n) as success_low,
        cluster_high(successes, success_n) as success_high
    from by_task
    group by all
),

summed as (
    select
        played.benchmark, played.condition, played.model, played.team, played.team_name, played.max_turns, played.level,
        any_value(played.game) as game,  -- a condition is of one
        count(*) as games,
        count(*) filter (played.ending = 'not_set_up') as broken,
        count(*) filter (played.ending = 'cut') as cut,
        count(played.score) as n,
        avg(played.score) as score_mean,
        count(*) filter (played.success) as successes,
        count(played.success) as success_n,
        count(ceilings.ceiling_share) as ceiling_n,
        avg(ceilings.ceiling_share) as ceiling_share_mean,
        coalesce(sum(counts.turns), 0)::bigint as turns,
        coalesce(sum(counts.attempted), 0)::bigint as attempted,
        coalesce(sum(counts.failed), 0)::bigint as failed,
        sum(counts.seen) as seen,
        coalesce(sum(counts.clarify), 0)::bigint as clarify,
        coalesce(sum(counts.oracle_turns), 0)::bigint as oracle_turns,
        coalesce(sum(counts.followed), 0)::bigint as followed,
        case
            when bool_or(counts.has_looser_reading) then sum(counts.followed_action_position_layer)::bigint
        end as followed_action_position_layer,
        coalesce(sum(counts.undoing), 0)::bigint as undoing,
        sum(counts.moves) as moves
    from played
    left join ceilings using (episode_id)
    left join game_counts as counts using (episode_id)
    group by played.benchmark, played.condition, played.model, played.team, played.team_name, played.max_turns, played.level
)

select
    summed.benchmark, summed.condition, summed.model, summed.team, summed.team_name, summed.max_turns, summed.level, summed.game,
    coalesce(over_tasks.tasks, 0) as tasks,
    games, broken, cut, summed.n, score_mean, over_tasks.score_sem,
    case when over_tasks.score_max is null then score_mean - t * nullif(over_tasks.score_sem, 0) else share_low * over_tasks.score_max end as score_low,
    case when over_tasks.score_max is null then score_mean + t * nullif(over_tasks.score_sem, 0) else share_high * over_tasks.score_max end as score_high,
    over_tasks.score_max, summed.successes, summed.success_n,
    summed.successes / nullif(summed.success_n, 0) as success_rate,
    case when most > 1 then success_low else wilson_low(summed.successes, summed.success_n) end as success_low,
    case when most > 1 then success_high else wilson_high(summed.successes, summed.success_n) end as success_high,
    ceiling_n, ceiling_share_mean, over_tasks.ceiling_share_sem, turns, attempted,
    case when attempted > 0 then failed end as failed,
    summed.failed / nullif(attempted, 0) as failed_rate,
    case when seen > 0 then clarify end as clarify,
    summed.clarify / nullif(seen, 0) as clarify_rate,
    oracle_turns, followed,
    followed / nullif(oracle_turns, 0) as adherence,
    followed_action_position_layer,
    followed_action_position_layer / nullif(oracle_turns, 0) as adherence_action_position_layer,
    undoing,
    undoing / nullif(moves, 0) as undoing_rate
from summed
left join over_tasks
    on summed.benchmark = over_tasks.benchmark
    and summed.condition is not distinct from over_tasks.condition
    and summed.model is not distinct from over_tasks.model
    and summed.team is not distinct from over_tasks.team
    and summed.team_name is not distinct from over_tasks.team_name
    and summed.max_turns is not distinct from over_tasks.max_turns
    and summed.level is not distinct from over_tasks.level;

-- leaderboard: how far each team got, with its uncertainty.
-- One row is (benchmark, condition, model, team, team_name, max_turns).
-- Columns as in: leaderboard_by.
-- Report: leaderboard, ordered by benchmark, score_mean desc nulls last, model, condition
-- Shows: benchmark, team_name, condition, games, score_mean, success_rate
create or replace view leaderboard as
select * exclude (level) from leaderboard_by();
