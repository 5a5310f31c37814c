-- cost_in_spirals: what a turn inside a correction spiral loses, against a turn outside, within the same team.
-- One row is a team under one condition with games that have values.
--   benchmark  text  the benchmark
--   model  text  the evaluated model
--   team_name  text  the team in short, as in team_names
--   condition  text  the condition of the run, as in run_conditions
--   turns_inside  count  turns inside a spiral of any kind
--   turns_outside  count  the other turns
--   cost_inside  number  what a turn inside lost on the average, in `unit`; null without one
--   cost_outside  number  what a turn outside lost on the average, in `unit`; null without one
--   share_inside  0..1  part of the team's losses that lies inside; null where nothing was lost
--   unit  text  progress (0 to 1), steps, turns, points or probability
-- Report: cost-in-spirals, ordered by benchmark, team_name, condition
-- Reads: correction_spirals, turn_costs.
create or replace view cost_in_spirals as

with inside as (
    select distinct episode_id, unnest(range(start_turn, end_turn + 1)) as turn
    from correction_spirals
)

select
    benchmark,
    model,
    team_name,
    condition,
    count(inside.turn) as turns_inside,
    count(*) - count(inside.turn) as turns_outside,
    avg(greatest(cost, 0)) filter (inside.turn is not null) as cost_inside,
    avg(greatest(cost, 0)) filter (inside.turn is null) as cost_outside,
    case
        when sum(greatest(cost, 0)) > 0
            then coalesce(sum(greatest(cost, 0)) filter (inside.turn is not null), 0) / sum(greatest(cost, 0))
    end as share_inside,
    unit
from turn_costs
left join inside using (episode_id, turn)
where isfinite(cost)
group by benchmark, model, team_name, condition, unit;
