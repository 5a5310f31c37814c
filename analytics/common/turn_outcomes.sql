-- turn_outcomes: what became of the oracle's candidates on each turn, as the log tells it; `outcomes` adds what game it is.
-- One row is a turn, of any benchmark.
-- Materialized: by game
--   episode_id  text  the game
--   turn  number  from 1
--   outcome  text  clarify: somebody asked and nobody acted; no_move: nobody acted, or the reply could not be read; no_oracle: no candidate was listed; followed: what was
--                  tried is one of the candidates in every part (followed_full; where the benchmark has no such reading, the log's flag);
--                  not_followed: it is none of them
--   followed_full  flag  what was tried is literally a candidate; null without candidates, and where the benchmark has no such reading
--   followed_physical  flag  it does what a candidate does: CRAFT's large blocks may be named from either end; null likewise
--   followed_action_position_layer  flag  CRAFT: a candidate has its action, position and layer, whatever the block: what published logs
--                                         call followed; null likewise
--   accepted  flag  the engine carried out every action of the turn; null without one
--   undoes  flag  an action of the turn takes back earlier work; null without one
--   progress  0..1  after the turn
-- Reads: turns, actions, turn_metrics.
create or replace view turn_outcomes as

with acted as (
    select
        episode_id,
        turn,
        count(*) filter (acts) > 0 as has_move,
        count(*) filter (verb = 'clarify') > 0 as asks,
        bool_and(accepted) filter (acts) as accepted,
        bool_or(undoes) filter (acts) as undoes
    from (
        -- of a reply that could not be read nothing was tried, unless the engine refused it
        select *, verb <> 'clarify' and (verb <> 'unreadable' or accepted is not null) as acts
        from unmaterialized('actions')
    )
    group by all
),

readings as (
    select
        episode_id,
        turn,
        split_part(metric, '.', 2) as reading,
        value = 1 as followed
    from unmaterialized('turn_metrics') as turn_metrics
    where metric like '%.followed_%'
),

adherence as (
    select
        episode_id,
        turn,
        bool_or(followed) filter (reading = 'followed_full') as followed_full,
        bool_or(followed) filter (reading = 'followed_physical') as followed_physical,
        bool_or(followed) filter (reading = 'followed_action_position_layer') as followed_action_position_layer
    from readings
    group by all
)

select
    turns.episode_id,
    turns.turn,
    case
        when not coalesce(acted.has_move, false) then case when acted.asks then 'clarify' else 'no_move' end
        when coalesce(adherence.followed_full, turns.oracle_followed) then 'followed'
        when turns.oracle_available then 'not_followed'
        else 'no_oracle'
    end as outcome,
    adherence.followed_full,
    adherence.followed_physical,
    adherence.followed_action_position_layer,
    acted.accepted,
    acted.undoes,
    turns.progress
from unmaterialized('turns') as turns
left join acted using (episode_id, turn)
left join adherence using (episode_id, turn);
