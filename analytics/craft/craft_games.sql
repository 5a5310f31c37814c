-- craft_games: CRAFT games with the columns of the reference tables.
-- Conditions are as in the reference, whose folders say the run (`api/oracle5_no_tools_run3`); all other views pool runs.
-- One row is a CRAFT game. A game that could not be set up has nulls from n_turns on, and in its scores.
-- Columns as in: craft_game_facts.
-- Reads: craft_game_facts.
create or replace view craft_games as

select
    * exclude (
        episode_id, run_id, max_turns, n_followed_full, n_attempted_remove, n_attempted_remove_oracle_turns, n_oracle_remove_any,
        n_oracle_remove_first, sum_oracle_remove_share, n_listed, n_listed_remove, progress_share_of_ceiling
    )
    replace (regexp_replace(condition, '^((api/|local/)?(oracle\d+|no_oracle)_(no_)?tools)', '\1_run' || coalesce(run::varchar, '')) as condition)
from craft_game_facts;
