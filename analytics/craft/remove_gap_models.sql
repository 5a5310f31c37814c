-- remove_gap_models: attempted against oracle removal for each team, in every reading.
-- One row is (condition, model, builder, reading).
-- Columns as in: remove_gap_models_by.
-- Report: remove-gap, ordered by reading, gap desc nulls last, model, condition
-- Shows: model, condition, reading, games, attempted_rate, oracle_rate, gap
-- Reads: remove_gap_models_by.
create or replace view remove_gap_models as

select * from remove_gap_models_by();
