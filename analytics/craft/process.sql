-- craft_process: how a game of CRAFT was played, as the front page shows it: its remove gap, in each reading (docs/dev/remove_gap.md).
-- One row is a game and a reading.
-- Read by game:
create or replace view craft_process as
with counted as (
    select
        episode_id,
        count(*) filter (attempted_remove) / nullif(count(attempted_remove), 0) as attempted,
        nullif(count(*) filter (oracle_available), 0) as listed,
        sum(oracle_remove_share) as share,
        count(*) filter (oracle_remove_any) as any_,
        count(*) filter (oracle_remove_first) as first_
    from unmaterialized('craft_removal_turns')
    group by episode_id
)

select
    episode_id, process,
    process = 'remove_gap' as is_default,
    attempted - case process when 'remove_gap_any' then any_ when 'remove_gap_first' then first_ else share end / listed as value,
    -1.0 as least,
    1.0 as most
from counted
cross join (values ('remove_gap'), ('remove_gap_any'), ('remove_gap_first')) as readings (process);
