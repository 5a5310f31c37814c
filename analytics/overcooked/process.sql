-- overcooked_process: how a kitchen was played, as the front page shows it: right requests of its conversations.
-- One row is a game with conversations.
--   episode_id
--   process  text  right_requests
--   is_default  flag  true: the family has one such measure
--   value  0..1  share of its conversations whose request was right, as the published code counts
--   least  number  lower bound of the value
--   most  number  upper bound of the value
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
