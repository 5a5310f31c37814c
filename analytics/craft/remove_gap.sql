-- remove_gap: attempted against oracle removal, turn by turn, in the default reading, `share` (argued in docs/remove_gap.md).
-- One row is (condition, model, builder, turn).
-- Columns as in: remove_gap_by.
-- Report: remove-gap-turns, ordered by model, condition, builder, turn
-- Shows: model, condition, turn, n, oracle_rate, attempted_rate, gap
-- Reads: remove_gap_by.
create or replace view remove_gap as

select * from remove_gap_by('share');
