-- craft_removals: who took away, and whether that would have helped, turn by turn: the part of craft_turn_facts that the remove gap asks for.
-- One row is a turn of a CRAFT game.
--   episode_id  text  the game
--   level  text  complexity of the target; null if the log does not say
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the directors' model
--   builder  text  the builder's model
--   turn  number  from 1
--   attempted_remove  flag  the recorded move is a removal; null without one
--   oracle_available  flag  candidates were listed beside a move; false on clarifications
--   n_oracle  count  how many
--   oracle_remove_any  flag  one of them is a removal; null if none was listed
--   oracle_remove_first  flag  the first of them is one; null if none was listed
--   oracle_remove_share  0..1  share of them that are; null if none was listed
-- Reads: episodes, run_conditions, turns, actions, oracle_actions.
create or replace view craft_removals as

with moves as (
    select episode_id, turn, verb = 'remove' as attempted_remove
    from actions
    where verb not in ('clarify', 'unreadable')
),

candidates as (
    select
        episode_id,
        turn,
        count(*) filter (listed) as n_listed,
        count(*) filter (listed and undoes) as n_listed_remove,
        coalesce(bool_or(undoes) filter (listed and rank = 1), false) as first_is_remove
    from oracle_actions
    group by all
)

select
    turns.episode_id,
    episodes.level,
    run_conditions.condition,
    episodes.model,
    episodes.team ->> 'builder' as builder,
    turns.turn,
    moves.attempted_remove,
    coalesce(turns.oracle_available and moves.attempted_remove is not null, false) as oracle_available,
    coalesce(candidates.n_listed, 0) as n_oracle,
    case when candidates.n_listed > 0 then candidates.n_listed_remove > 0 end as oracle_remove_any,
    case when candidates.n_listed > 0 then candidates.first_is_remove end as oracle_remove_first,
    case when candidates.n_listed > 0 then candidates.n_listed_remove / candidates.n_listed end as oracle_remove_share
from turns
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
left join moves using (episode_id, turn)
left join candidates
    on moves.episode_id = candidates.episode_id and moves.turn = candidates.turn
where episodes.benchmark = 'craft';
