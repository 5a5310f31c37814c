-- repeated_episodes: episodes that tell again what another episode of the store tells: they are in no count, rate or mean.
-- One row is an episode that does not count.
--   episode_id  text  the episode
-- A sample of Inspect is one by its uuid, in whatever logs it stands: an `.eval` and its `.json`, a log and its retry.
-- Reads: episodes, every family's repeated_episodes.
create or replace view repeated_episodes as

select episode_id
from every_family('repeated_episodes') as repeated
union all
select episode_id
from episodes
where benchmark = 'inspect' and (details ->> 'sample_uuid') is not null
qualify row_number() over (partition by details ->> 'sample_uuid' order by episode_id) > 1;
