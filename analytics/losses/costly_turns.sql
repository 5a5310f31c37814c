-- costly_turns: the turns that lost something, and what share of their game's losses.
-- One row is a turn that cost more than 0.
--   lost_in_game  number  what the turns of the game lost together, in `unit`
--   share  0..1  this turn's part of it; null where the game lost an infinite amount
-- Columns as in: turn_costs.
-- Report: costly-turns, ordered by benchmark, cost desc, episode_id, turn
-- Reads: turn_costs.
create or replace view costly_turns as

select
    *,
    sum(cost) over game as lost_in_game,
    case when isfinite(sum(cost) over game) then cost / sum(cost) over game end as share
from turn_costs
where cost > 1e-9
window game as (partition by episode_id);
