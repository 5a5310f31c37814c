-- overcooked_decline: how collaboration falls off over the course of a task, and from level to level.
-- One row is (model, condition, capability, scale): conversations that the Chef opened.
--   model  text  the evaluated model
--   condition  text  the condition of the run, as in run_conditions
--   capability  text  initiate or respond
--   scale  text  course: over progress_before, from 0 to 1; level: over the level, from 1 to 6
--   n  count  conversations
--   rate  0..1  share of them that went right
--   n_first  count  conversations in the first quarter of the task that has any, or in the lowest level played
--   rate_first  0..1  share right among them
--   n_last  count  conversations in the last quarter that has any, or in the highest level played
--   rate_last  0..1  share right among them
--   slope  number  least-squares change of the rate over the whole task, or with each level; below 0 is a decline; null where nothing varies
-- Reads: overcooked_collaborations.
create or replace view overcooked_decline as

with outcomes_of as (
    select
        model,
        condition,
        unnest(['initiate', 'respond']) as capability,
        unnest([initiate_ok, respond_ok])::integer as ok,
        progress_before,
        position,
        level::double as level
    from overcooked_collaborations
    where opener = 'Chef'
),

placed as (
    select
        *,
        unnest(['course', 'level']) as scale,
        unnest([progress_before, level]) as place,
        unnest([position = min(position) over team, level = min(level) over team]) as is_first,
        unnest([position = max(position) over team, level = max(level) over team]) as is_last
    from outcomes_of
    window team as (partition by model, condition)
)

select
    model,
    condition,
    capability,
    scale,
    count(*) as n,
    avg(ok) as rate,
    count(*) filter (is_first) as n_first,
    avg(ok) filter (is_first) as rate_first,
    count(*) filter (is_last) as n_last,
    avg(ok) filter (is_last) as rate_last,
    case when stddev_pop(place) > 0 then regr_slope(ok, place) end as slope
from placed
group by all;
