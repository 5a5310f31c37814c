-- families: the benchmark families side by side.
-- One row is a benchmark.
--   benchmark  text  its name
--   games  count  games in the store
--   broken  count  games that could not be set up; in no other number of the row
--   cut  count  games whose end is not known (see `games`); in no number of success or score
--   successes  count  games that reached the goal, of those neither broken nor cut
--   success_rate  0..1  successes / games neither broken nor cut; null if there are none
--   success_low  0..1  lower end of its 95 % interval: Wilson's, and where answers to one question are several, with questions as clusters
--   success_high  0..1  upper end
--   main_metric  text  what the score is: the metric's name
--   n  count  games with a score; of LLM-Coordination, whose games have scores of different units, the answers to CoordinationQA, each once
--   score_mean  number  mean of the main metric over the n games; null if n is 0
--   score_low  number  lower end of its 95 % t interval; null below two games. The answers to one question are one cluster: repeating trials
--                      does not make it narrower
--   score_high  number  upper end; null below two games
--   commonest_failure  text  the kind of failure on most turns, as in failure_map; null if no turn failed or none is classified
--   failing_turns  count  turns with that kind of failure; null with it
--   turns  count  turns of all games
--   turns_in_spirals  count  turns inside at least one correction spiral
--   spiral_share  0..1  turns_in_spirals / turns; null without turns
-- Report: families, ordered by benchmark
-- Reads: games, failures_common, correction_spirals, coordqa_answers, intervals.
create or replace view families as

with metric_names as (
    select *
    from (values
        ('craft', 'overall_progress'),
        ('einstein', 'sub_r'),
        ('asympuzl', 'success'),
        ('overcooked', 'pc'),
        ('coordination', 'accuracy of CoordinationQA')
    ) as names (benchmark, main_metric)
),

questions as (
    select episode_id, type || ' ' || scenario as question
    from coordqa_answers
),

comparable as (
    select
        *,
        case when ending = 'ended' and (benchmark <> 'coordination' or question is not null) then score end as main_score
    from games
    left join questions using (episode_id)
),

clusters as (
    select
        benchmark,
        case when condition = 'coordqa' then task_id else episode_id end as cluster,
        count(main_score) as members,
        sum(main_score) as total,
        count(*) filter (ending = 'ended') as ended,
        count(*) filter (ending = 'ended' and success) as successes
    from comparable
    group by all
),

means as (
    select benchmark, sum(total) / sum(members) as score_mean, sum(members) as n, count(*) as clusters
    from clusters
    where members > 0
    group by all
),

-- the variance of a mean whose members come in clusters; with one member each it is that of the sample
errors as (
    select
        clusters.benchmark,
        max(means.clusters) as clusters,
        sqrt(sum((total - members * score_mean) ** 2) * max(means.clusters) / nullif(max(means.clusters) - 1, 0)) / max(means.n) as score_sem
    from clusters
    inner join means using (benchmark)
    where members > 0
    group by all
),

sums as (
    select
        benchmark,
        count(*) as clusters,
        sum(ended)::bigint as ended,
        sum(successes)::bigint as successes,
        sum(successes * successes)::bigint as kk,
        sum(successes * ended)::bigint as kn,
        sum(ended * ended)::bigint as nn
    from clusters
    where ended > 0
    group by all
),

scores as (
    select
        benchmark,
        count(*) as games,
        count(*) filter (ending = 'not_set_up') as broken,
        count(*) filter (ending = 'cut') as cut,
        count(*) filter (ending = 'ended') as ended,
        count(*) filter (ending = 'ended' and success) as successes,
        count(main_score) as n,
        avg(main_score) as score_mean,
        sum(turns_taken)::bigint as turns
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
    scores.benchmark,
    scores.games,
    scores.broken,
    scores.cut,
    scores.successes,
    scores.successes / nullif(scores.ended, 0) as success_rate,
    case
        when sums.clusters < sums.ended then clustered_low(sums.successes, sums.ended, sums.clusters, sums.kk, sums.kn, sums.nn)
        else wilson_low(sums.successes, sums.ended)
    end as success_low,
    case
        when sums.clusters < sums.ended then clustered_high(sums.successes, sums.ended, sums.clusters, sums.kk, sums.kn, sums.nn)
        else wilson_high(sums.successes, sums.ended)
    end as success_high,
    metric_names.main_metric,
    scores.n,
    scores.score_mean,
    scores.score_mean - t_critical(errors.clusters - 1) * errors.score_sem as score_low,
    scores.score_mean + t_critical(errors.clusters - 1) * errors.score_sem as score_high,
    commonest.commonest_failure,
    commonest.failing_turns,
    scores.turns,
    coalesce(inside.turns_in_spirals, 0) as turns_in_spirals,
    coalesce(inside.turns_in_spirals, 0) / nullif(scores.turns, 0) as spiral_share
from scores
left join metric_names using (benchmark)
left join errors using (benchmark)
left join sums using (benchmark)
left join commonest using (benchmark)
left join inside using (benchmark);
