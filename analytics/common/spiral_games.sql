-- spiral_games: the games whose logs record states or judged actions, so that correction spirals, refusals and questions can be seen in them.
-- One row is a game; of any other game nothing is known of these, which is not the same as none.
--   episode_id  text  the game
-- Reads: turns, actions.
create or replace view spiral_games as

select distinct episode_id
from turns
where state_before is not null or state_after is not null
union
select distinct episode_id
from actions
where accepted is not null or undoes is not null;
