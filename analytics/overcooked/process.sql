-- overcooked_process: how a kitchen was played, as the front page shows it: right requests of its conversations.
-- One row is a game with conversations.
create or replace view overcooked_process as
select
    episode_id,
    'right_requests' as process,
    true as is_default,
    max(value) filter (metric = 'overcooked.n_initiate_ok')
    / nullif(max(value) filter (metric = 'overcooked.n_communications'), 0) as value,
    0.0 as least,
    1.0 as most
from episode_metrics
where metric in ('overcooked.n_initiate_ok', 'overcooked.n_communications')
group by episode_id;
