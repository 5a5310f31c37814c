-- decisive_turns: the turn that decided each game.
-- One row is a game with a turn that cost something: the turn after which success could no more be reached or, where there is none
-- because success was out of reach from the start or is within it still, the turn that cost most, the first of equals.
--   why  text  out_of_reach: success could no more be reached after it; largest_cost: it lost most
--   lost_in_game  number  what the turns of the game lost together, in `unit`
--   share  0..1  this turn's part of it; null where the game lost an infinite amount
-- Columns as in: turn_costs.
-- Report: decisive-turns, ordered by benchmark, model, task_id, episode_id
-- Reads: turn_costs.
create or replace view decisive_turns as

with told as (
    select
        *,
        coalesce(lost and not lost_before, false) as out_of_reach,
        sum(greatest(cost, 0)) over (partition by episode_id) as lost_in_game
    from turn_costs
)

select
    * exclude (out_of_reach, lost_in_game),
    case when out_of_reach then 'out_of_reach' else 'largest_cost' end as why,
    lost_in_game,
    case when isfinite(lost_in_game) then cost / lost_in_game end as share
from told
where cost > 1e-9
qualify row_number() over (partition by episode_id order by out_of_reach desc, cost desc, turn) = 1;
