-- remove_gap_by: attempted against oracle removal, turn by turn, in a chosen reading, over the targets of some tiers; a table macro: `from remove_gap_by('any')`.
-- One row is (condition, model, builder, turn).
-- Parameters: reading: any, first or share, what counts as the oracle's removal rate on a turn (docs/remove_gap.md); levels: list of the tiers that count, null for all.
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   turn  number  from 1
--   n  count  games that had listed candidates on this turn
--   n_attempted  count  games that had a recorded move on this turn
--   n_attempted_remove  count  removals among these moves
--   oracle_rate  0..1  mean over the n games of the chosen reading; null if n is 0
--   attempted_rate  0..1  n_attempted_remove / n_attempted; null if n_attempted is 0
--   gap  -1..1  attempted_rate - oracle_rate; null where either is
--   paired_gap  -1..1  the same with both rates over the n games alone; null if n is 0
-- Reads: craft_removals.
create or replace macro remove_gap_by(reading, levels := null) as table

with readings as (
    select
        condition,
        model,
        builder,
        turn,
        attempted_remove,
        n_oracle > 0 as has_candidates,
        case reading
            when 'any' then oracle_remove_any::int
            when 'first' then oracle_remove_first::int
            when 'share' then oracle_remove_share
            else error('remove_gap_by: no reading "' || reading || '"; choose any, first or share')
        end as oracle_remove
    from craft_removals
    where levels is null or list_contains(levels, level)
),

rates as (
    select
        condition,
        model,
        builder,
        turn,
        count(*) filter (has_candidates) as n,
        count(attempted_remove) as n_attempted,
        count(*) filter (attempted_remove) as n_attempted_remove,
        avg(oracle_remove) as oracle_rate,
        avg(attempted_remove::int) as attempted_rate,
        avg(attempted_remove::int) filter (has_candidates) as paired_rate
    from readings
    group by all
)

select * exclude (paired_rate), attempted_rate - oracle_rate as gap, paired_rate - oracle_rate as paired_gap from rates;
