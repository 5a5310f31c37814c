-- families: the benchmark families side by side.
-- One row is a benchmark.
-- Report: families, ordered by benchmark
-- Shows: benchmark, games, success_rate, main_metric, score_mean, commonest_failure
create or replace view families as
with metric_names as (
    select benchmark, score as main_metric
    from list_of_families()
),

questions as (
    select episode_id, type || ' ' || scenario as question
    from coordqa_answers
),

comparable as (
    select
        *,
        case when ending = 'ended' and (benchmark <> 'coordination' or question is not null) then score end as main_score
    from compared_games
    left join questions using (episode_id)
),

-- in a family with a single task the games vary
clustered as (
    select
        *,
        case
            when min(task) filter (ending = 'ended') over family = max(task) filter (ending = 'ended') over family then episode_id else task
        end as cluster
    from comparable
    window family as (partition by benchmark)
),

clusters as (
    select
        benchmark, cluster,
        any_value(task) as task,
        max(score_max) as score_max,
        count(main_score) as members,
        coalesce(sum(main_score), 0) as total,
        count(*) filter (ending = 'ended') as ended,
        count(success) filter (ending = 'ended') as known,
        count(*) filter (ending = 'ended' and success) as successes
    from clustered
    group by all
),

over_tasks as (
    select
        benchmark,
        count(distinct task) filter (ended > 0) as tasks,
        max(score_max) filter (members > 0) as score_max,
        max(known) as most,
        cluster_low(successes, known) as success_low,
        cluster_high(successes, known) as success_high,
        cluster_low(total, members) as share_low,
        cluster_high(total, members) as share_high,
        cluster_sem(total, members) as score_sem,
        t_critical(greatest(sum(members) ** 2 / nullif(sum(members * members), 0) - 1, 1)) as t
    from clusters
    group by all
),

scores as (
    select
        benchmark,
        count(*) as games,
        count(*) filter (ending = 'not_set_up') as broken,
        count(*) filter (ending = 'cut') as cut,
        count(success) filter (ending = 'ended') as known,
        count(*) filter (ending = 'ended' and success) as successes,
        count(main_score) as n,
        avg(main_score) as score_mean,
        sum(turns_taken)::bigint as turns,
        sum(turns_taken) filter (episode_id in (select episode_id from spiral_games))::bigint as turns_seen
    from comparable
    group by all
),

kinds as (
    select benchmark, common, sum(turns)::bigint as failing_turns
    from failures_common
    group by all
),

commonest as (
    select benchmark, common as commonest_failure, failing_turns
    from kinds
    qualify row_number() over (partition by benchmark order by failing_turns desc, common) = 1
),

marked as (
    select distinct benchmark, episode_id, unnest(range(start_turn, end_turn + 1)) as turn
    from correction_spirals
),

inside as (
    select benchmark, count(*) as turns_in_spirals
    from marked
    group by all
)

select
    scores.benchmark, scores.games, over_tasks.tasks, scores.broken, scores.cut, scores.successes,
    scores.known as success_n,
    scores.successes / nullif(scores.known, 0) as success_rate,
    case when most > 1 then over_tasks.success_low else wilson_low(scores.successes, scores.known) end as success_low,
    case when most > 1 then over_tasks.success_high else wilson_high(scores.successes, scores.known) end as success_high,
    metric_names.main_metric, scores.n, scores.score_mean,
    case when over_tasks.score_max = 1 then share_low else scores.score_mean - t * nullif(over_tasks.score_sem, 0) end as score_low,
    case when over_tasks.score_max = 1 then share_high else scores.score_mean + t * nullif(over_tasks.score_sem, 0) end as score_high,
    over_tasks.score_max, commonest.commonest_failure, commonest.failing_turns, scores.turns,
    case when scores.turns_seen > 0 then coalesce(inside.turns_in_spirals, 0) end as turns_in_spirals,
    coalesce(inside.turns_in_spirals, 0) / nullif(scores.turns_seen, 0) as spiral_share
from scores
left join metric_names using (benchmark)
left join over_tasks using (benchmark)
left join commonest using (benchmark)
left join inside using (benchmark);
