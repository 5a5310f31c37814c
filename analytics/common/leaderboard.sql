-- leaderboard: how far each team got, with its uncertainty.
-- One row is (benchmark, condition, model, team, team_name, max_turns).
-- Columns as in: leaderboard_by.
-- Report: leaderboard, ordered by benchmark, score_mean desc nulls last, model, condition
-- Shows: benchmark, team_name, condition, games, score_mean, success_rate
-- Reads: leaderboard_by.
create or replace view leaderboard as

select * from leaderboard_by();
