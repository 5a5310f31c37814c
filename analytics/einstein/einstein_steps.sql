-- einstein_steps: the steps of Einstein games with the columns of the reference table.
-- One row is a step of an Einstein game.
-- Columns as in: einstein_step_facts.
-- Reads: einstein_step_facts.
create or replace view einstein_steps as

select * exclude (episode_id, run_id) from einstein_step_facts;
