-- game_failures: on how many turns of each game each kind of failure occurs, in the same words for every benchmark.
-- One row is (episode_id, common).
-- Materialized: by game
--   episode_id  text  the game
--   common  text  kind of failure, as in failure_map, `none` too; `unmapped` for categories of mapped taxonomies that failure_map does not list
--   turns  count  turns with at least one category of this kind
--   classified_turns  count  turns of the game that a mapped taxonomy classifies and that count (failure_turns.counted)
-- Reads: failures, failure_map.
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
