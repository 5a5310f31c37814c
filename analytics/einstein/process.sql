-- einstein_process: how an Einstein puzzle was played, as the front page shows it: steps over the optimum of the action space.
-- One row is a game.
create or replace view einstein_process as
select episode_id, 'step_ratio' as process, true as is_default, step_ratio as value, 1.0 as least, null::double as most
from einstein_game_facts;
