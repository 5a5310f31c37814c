-- einstein_games: Einstein games with the columns of the reference table.
-- One row is an Einstein game.
-- Columns as in: einstein_game_facts.
-- Reads: einstein_game_facts.
create or replace view einstein_games as

select * exclude (episode_id, run_id, benchmark, condition, model, level, solved_at_limit) from einstein_game_facts;
