-- failures_common: how often each kind of failure occurs, in the same words for every benchmark.
-- One row is (benchmark, condition, model, common).
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   common  text  kind of failure, as in failure_map; `unmapped` for categories of mapped taxonomies that failure_map does not list
--   turns  count  turns with at least one category of this kind
--   denominator  count  turns that a mapped taxonomy classifies and that count (failure_turns.counted)
--   share  0..1  turns / denominator; shares of one group may add up to more than 1, a turn can fail in several ways
--   share_low  0..1  lower end of the 95 % Wilson interval of share
--   share_high  0..1  upper end
-- Reads: failure_turns, failure_map, intervals.
create or replace view failures_common as

with mapped_taxonomies as (
    select distinct taxonomy from failure_map
),

classified as (
    select
        failure_turns.benchmark,
        failure_turns.condition,
        failure_turns.model,
        failure_turns.episode_id,
        failure_turns.turn,
        coalesce(failure_map.common, 'unmapped') as common
    from failure_turns
    inner join mapped_taxonomies using (taxonomy)
    left join failure_map using (taxonomy, category)
    where failure_turns.counted
),

groups as (
    select benchmark, condition, model, count(distinct (episode_id, turn)) as denominator
    from classified
    group by all
),

kinds as (
    select benchmark, condition, model, common, count(distinct (episode_id, turn)) as turns
    from classified
    where common <> 'none'
    group by all
)

select
    kinds.*,
    groups.denominator,
    kinds.turns / groups.denominator as share,
    wilson_low(kinds.turns, groups.denominator) as share_low,
    wilson_high(kinds.turns, groups.denominator) as share_high
from kinds
inner join groups using (benchmark, condition, model);
