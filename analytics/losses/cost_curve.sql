-- cost_curve: what each game had lost up to each turn.
-- One row is a turn of a game that has values.
--   lost_so_far  number  what the turns up to this one cost together, in `unit`
-- Columns as in: turn_costs.
-- Reads: turn_costs.
create or replace view cost_curve as

select *, sum(cost) over (partition by episode_id order by turn) as lost_so_far
from turn_costs;
