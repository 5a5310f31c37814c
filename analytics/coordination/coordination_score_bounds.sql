-- coordination_score_bounds: how high the score of a game of LLM-Coordination can be; it differs from game to game.
-- One row is a run.
--   run_id  text  the run
--   score_max  number  Hanabi 25; CollabCapture, CollabEscape and CoordinationQA 1; null of a kitchen, whose soups are as many as time allows
--   game  text  the game, since a score of one is none of another
-- Reads: runs.
create or replace view coordination_score_bounds as

select
    run_id,
    case
        when starts_with(name, 'hanabi') then 25
        when starts_with(name, 'overcooked') then null
        else 1
    end as score_max,
    condition ->> 'game' as game
from runs
where benchmark = 'coordination';
