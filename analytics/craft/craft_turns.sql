-- craft_turns: the turns of CRAFT games with the columns of the reference tables.
-- One row is a turn of a CRAFT game.
-- Columns as in: craft_turn_facts.
-- Reads: craft_turn_facts.
create or replace view craft_turns as

select * exclude (episode_id, run_id, level, n_oracle_remove) from craft_turn_facts;
