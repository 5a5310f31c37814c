-- continuations: counterfactual continuations from a turn of another game, against the original game.
-- One row is (game, turn, what was changed, measure): all repeats together.
-- Report: continuations, ordered by benchmark, episode_id, turn, changed, measure
-- Shows: episode_id, turn, changed, measure, games, happened, mean, low, high
create or replace view continuations as
with continued as (
    select
        episode_id,
        origin->>'$.episode' as origin_id,
        (origin->>'$.turn')::bigint as from_turn,
        origin->>'$.changed' as changed,
        (origin->>'$.turns')::bigint as turns,
        turns_taken, success
    from episodes
    where origin is not null
),

-- value of every turn by every measure
measured as (
    select episode_id, turn, 'progress' as measure, progress as value from turns where progress is not null
    union all
    select episode_id, turn, measure, value_after as value from turn_values where isfinite(value_after)
),

last_turns as (select episode_id, max(turn) as turn from turns group by episode_id),

-- a game that was over before the continuation stopped stays as it ended
compared as (
    select
        continued.*,
        now.measure, now.value,
        was.value as happened
    from continued
    join measured as now on now.episode_id = continued.episode_id and now.turn = continued.turns_taken
    join last_turns on last_turns.episode_id = continued.origin_id
    left join measured as was
        on was.episode_id = continued.origin_id
        and was.measure = now.measure
        and was.turn = case when continued.turns is null then last_turns.turn else least(continued.turns_taken, last_turns.turn) end
    union all
    select
        continued.*,
        'success' as measure,
        continued.success::int::double as value,
        origin.success::int::double as happened
    from continued
    join episodes as origin on origin.episode_id = continued.origin_id
    where continued.success is not null and continued.turns is null
),

summed as (
    select
        origin_id, from_turn, changed, turns, measure,
        count(*) as games,
        avg(happened) as happened,
        avg(value) as mean,
        sum(value) as total,
        sum(value * value) as squared,
        stddev_samp(value) as deviation
    from compared
    group by all
)

select
    origin.benchmark,
    summed.origin_id as episode_id,
    origin.task_id,
    summed.from_turn as turn,
    summed.changed, summed.turns, summed.measure, summed.games, summed.happened, summed.mean, case
        when summed.measure = 'success' then wilson_low(summed.total, summed.games)
        when summed.measure = 'progress' then clustered_low(summed.total, summed.games, summed.games, summed.squared, summed.total, summed.games)
        else summed.mean - t_critical(summed.games - 1) * summed.deviation / sqrt(summed.games)
    end as low,
    case
        when summed.measure = 'success' then wilson_high(summed.total, summed.games)
        when summed.measure = 'progress' then clustered_high(summed.total, summed.games, summed.games, summed.squared, summed.total, summed.games)
        else summed.mean + t_critical(summed.games - 1) * summed.deviation / sqrt(summed.games)
    end as high,
    summed.mean - summed.happened as difference
from summed
join episodes as origin on origin.episode_id = summed.origin_id;
