-- team_names: which models sat where, in short, so that one team is told from another with the same evaluated model. Who has no model and is
-- no part of the team (a user, a tool in a foreign log) is left out.
-- One row is a game.
-- Materialized: by game
--   episode_id  text  the game
--   team_name  text  the model, if all seats have the same; else each role with its models (`director gpt-4o, builder gpt-4o-mini`), those of
--                    several seats with their number (`director gpt-4o ×2 + qwen-7b`); of a seat whose model the log does not say `?`;
--                    where the log names no agent, the evaluated model
-- Reads: episodes, agents.
create or replace view team_names as

with seats as (
    select agents.episode_id, agents.role, coalesce(agents.model, '?') as model, count(*) as n
    from unmaterialized('agents') as agents
    inner join unmaterialized('episodes') as episodes using (episode_id)
    where agents.model is not null or episodes.team is null or list_contains(json_keys(episodes.team), agents.role)
    group by all
),

-- the role of the evaluated model stands first
roles as (
    select
        seats.episode_id,
        seats.role,
        bool_or(seats.model = episodes.model) as is_evaluated,
        count(*) as models,
        string_agg(
            seats.model || case when n > 1 then ' ×' || n else '' end, ' + '
            order by n desc, seats.model
        ) as counted,
        any_value(seats.model) as single
    from seats
    inner join unmaterialized('episodes') as episodes using (episode_id)
    group by seats.episode_id, seats.role
),

named as (
    select
        episode_id,
        case
            when max(models) = 1 and min(single) = max(single) then min(single)
            else string_agg(role || ' ' || case when models = 1 then single else counted end, ', ' order by is_evaluated desc, role)
        end as seated
    from roles
    group by episode_id
)

select episodes.episode_id, case when named.seated is null or named.seated = '?' then episodes.model else named.seated end as team_name
from unmaterialized('episodes') as episodes
left join named using (episode_id);
