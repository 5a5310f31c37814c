-- einstein_process: how an Einstein puzzle was played, as the front page shows it: steps over the optimum of the action space.
-- One row is a game.
--   episode_id
--   process  text  step_ratio
--   is_default  flag  true: the family has one such measure
--   value  number  steps over the optimum; null where the puzzle was not solved
--   least  number  null: the value has no bounds
--   most  number  null: the value has no bounds
create or replace view einstein_process as
select episode_id, 'step_ratio' as process, true as is_default, step_ratio as value, null::double as least, null::double as most
from einstein_game_facts;
