-- leaderboard: how far each team got, with its uncertainty.
-- One row is (benchmark, condition, model, team, max_turns).
-- Columns as in: leaderboard_by.
-- Reads: leaderboard_by.
create or replace view leaderboard as

select * from leaderboard_by();
