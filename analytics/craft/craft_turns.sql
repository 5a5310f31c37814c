-- craft_turns: the turns of CRAFT games with the columns of the reference tables.
-- Conditions are as in the reference, whose folders say the run (`api/oracle5_no_tools_run3`); all other views pool runs.
-- One row is a turn of a CRAFT game.
-- Columns as in: craft_turn_facts.
-- Reads: craft_turn_facts.
create or replace view craft_turns as

select
    * exclude (episode_id, run_id, level, n_oracle_remove)
    replace (regexp_replace(condition, '^((api/|local/)?(oracle\d+|no_oracle)_(no_)?tools)', '\1_run' || coalesce(run::varchar, '')) as condition)
from craft_turn_facts;
