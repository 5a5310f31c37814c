-- compared_steps: each turn with its team, its task, what became of it and what it gained: compared_turns without what is counted in texts.
-- One row is a turn of a game that ended; a game that the store has twice stands here once.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   team_name  text  the team in short, as in team_names
--   task  text  the task by what it is, as in compared_games
--   game  text  the game, as in compared_games; null where a benchmark has one
--   step  text  refused: the engine refused an action of the turn; followed, not_followed, clarify, no_move as in outcomes; accepted: carried
--               out where no candidates were listed
--   followed  0..1  1: a candidate was tried, 0: something else was; null without candidates or without a move
--   accepted  0..1  1: the engine carried out every action, 0: not; null without one
--   undoes  0..1  1: an action takes back earlier work, 0: none does; null without one
--   progress  0..1  after the turn; null if the log measures none
--   gain  -1..1  progress after the turn minus progress before it; null where either is
-- Reads: outcomes, compared_games, turn_metrics.
create or replace view compared_steps as

with starts as (
    select episode_id, max(value) as progress
    from turn_metrics
    where turn = 0 and metric like '%.overall_progress'
    group by all
)

select
    outcomes.episode_id,
    outcomes.turn,
    outcomes.benchmark,
    outcomes.condition,
    compared_games.team_name,
    compared_games.task,
    compared_games.game,
    case
        when not outcomes.accepted then 'refused'
        when outcomes.outcome <> 'no_oracle' then outcomes.outcome
        when outcomes.accepted then 'accepted'
        else 'no_move'
    end as step,
    case outcomes.outcome when 'followed' then 1.0::double when 'not_followed' then 0.0::double end as followed,
    outcomes.accepted::int::double as accepted,
    outcomes.undoes::int::double as undoes,
    outcomes.progress,
    outcomes.progress - lag(outcomes.progress, 1, starts.progress) over (
        partition by outcomes.episode_id, starts.progress
        order by outcomes.turn
    ) as gain
from outcomes
inner join compared_games using (episode_id)
left join starts using (episode_id)
where compared_games.ending = 'ended';
