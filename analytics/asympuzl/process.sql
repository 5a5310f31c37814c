-- asympuzl_process: how a puzzle of AsymPuzl was played, as the front page shows it: messages that repeat an earlier one.
-- One row is a game.
create or replace view asympuzl_process as
select
    episode_id,
    'repeated_messages' as process,
    true as is_default,
    repeated_messages / nullif(answers, 0) as value,
    0.0 as least,
    1.0 as most
from asympuzl_games;
