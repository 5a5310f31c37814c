-- avalon_failure_map: the part of failure_map that is about Avalon; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view avalon_failure_map as
select * from rows_of('failure_map.csv');

-- avalon_turn_costs: the part of turn_costs that is about Avalon: what proposals, quests and guesses cost good, by a model (docs/avalon.md).
-- One row is a turn.
create or replace view avalon_turn_costs as
select
    *,
    value_before <= 0 as lost_before,
    value_after <= 0 as lost
from turn_values
where measure = 'avalon.good_wins';

-- avalon_process: how Avalon was played, as the front page shows it: votes of good players that the record proves wrong.
-- One row is a game.
create or replace view avalon_process as
select
    episode_id,
    'proven_mistakes' as process,
    true as is_default,
    proven_mistake_votes / nullif(good_votes_on_proven_bad, 0) as value,
    0.0 as least,
    1.0 as most
from avalon_games;
