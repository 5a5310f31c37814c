-- cost_by_category: which failure categories carry the cost: what the turns of each category lost together.
-- One row is a category of a taxonomy in the games of one team under one condition.
--   benchmark  text  the benchmark
--   model  text  the evaluated model
--   team_name  text  the team in short, as in team_names
--   condition  text  the condition of the run, as in run_conditions
--   taxonomy  text  name of the taxonomy
--   category  text  category inside it
--   turns  count  turns with the category
--   cost  number  what they lost together, in `unit`
--   cost_a_turn  number  what one of them lost on the average, in `unit`
--   share  0..1  of all that the team's games lost under the condition; null where they lost nothing
--   unit  text  progress (0 to 1), steps, turns, points or probability
-- Report: cost-by-category, ordered by benchmark, team_name, condition, taxonomy, cost desc, category
-- Reads: failure_turns, turn_costs.
create or replace view cost_by_category as

with lost as (
    select benchmark, model, team_name, condition, unit, sum(greatest(cost, 0)) as cost
    from turn_costs
    where isfinite(cost)
    group by all
),

marked as (
    select distinct episode_id, turn, taxonomy, category
    from failure_turns
),

found as (
    select
        turn_costs.benchmark,
        turn_costs.model,
        turn_costs.team_name,
        turn_costs.condition,
        marked.taxonomy,
        marked.category,
        turn_costs.unit,
        count(*) as turns,
        sum(greatest(turn_costs.cost, 0)) as cost
    from marked
    inner join turn_costs using (episode_id, turn)
    where isfinite(turn_costs.cost)
    group by all
)

select
    found.benchmark,
    found.model,
    found.team_name,
    found.condition,
    found.taxonomy,
    found.category,
    found.turns,
    found.cost,
    found.cost / found.turns as cost_a_turn,
    case when lost.cost > 0 then found.cost / lost.cost end as share,
    found.unit
from found
inner join lost using (benchmark, model, team_name, condition, unit);
