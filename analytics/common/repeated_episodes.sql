-- repeated_episodes: episodes that tell again what another episode of the store tells: they are in no count, rate or mean.
-- One row is an episode that does not count.
--   episode_id  text  the episode
-- Reads: every family's repeated_episodes.
create or replace view repeated_episodes as

select episode_id
from every_family('repeated_episodes') as repeated;
