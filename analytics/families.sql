-- families: the benchmark families side by side.
-- One row is a benchmark.
--   benchmark  text  craft, einstein, asympuzl, overcooked or coordination
--   games  count  games in the store
--   broken  count  games that could not be set up; in no other number of the row
--   cut  count  games whose end is not known (see `games`); in no number of success or score
--   successes  count  games that reached the goal, of those neither broken nor cut
--   success_rate  0..1  successes / games neither broken nor cut; null if there are none
--   success_low  0..1  lower end of its 95 % Wilson interval
--   success_high  0..1  upper end
--   main_metric  text  what the score is: the metric's name
--   n  count  games with a score; of LLM-Coordination, whose games have scores of different units, the answers to CoordinationQA
--   score_mean  number  mean of the main metric over the n games; null if n is 0
--   score_low  number  lower end of its 95 % t interval; null below two games
--   score_high  number  upper end; null below two games
--   commonest_failure  text  the kind of failure on most turns, as in failure_map; null if no turn failed or none is classified
--   failing_turns  count  turns with that kind of failure; null with it
--   turns  count  turns of all games
--   turns_in_spirals  count  turns inside at least one correction spiral
--   spiral_share  0..1  turns_in_spirals / turns; null without turns
-- Reads: games, failures_common, correction_spirals, intervals.
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

comparable as (
    select
        *,
        case when ending = 'ended' and (benchmark <> 'coordination' or condition = 'coordqa') then score end as main_score
    from games
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
        stddev_samp(main_score) / sqrt(count(main_score)) as score_sem,
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
    wilson_low(scores.successes, scores.ended) as success_low,
    wilson_high(scores.successes, scores.ended) as success_high,
    metric_names.main_metric,
    scores.n,
    scores.score_mean,
    scores.score_mean - t_critical(scores.n - 1) * scores.score_sem as score_low,
    scores.score_mean + t_critical(scores.n - 1) * scores.score_sem as score_high,
    commonest.commonest_failure,
    commonest.failing_turns,
    scores.turns,
    coalesce(inside.turns_in_spirals, 0) as turns_in_spirals,
    coalesce(inside.turns_in_spirals, 0) / nullif(scores.turns, 0) as spiral_share
from scores
left join metric_names using (benchmark)
left join commonest using (benchmark)
left join inside using (benchmark);
