-- cost_curve: what each game had lost up to each turn.
-- One row is a turn of a game that has values.
--   lost_so_far  number  what the turns up to this one cost together, in `unit`; null where the cost of one is not known
-- Columns as in: turn_costs.
-- Reads: turn_costs.
create or replace view cost_curve as

select *, case when not bool_or(kind = 'none') over so_far then sum(cost) over so_far end as lost_so_far
from turn_costs
window so_far as (partition by episode_id order by turn);
