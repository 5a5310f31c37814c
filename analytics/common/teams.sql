-- team_names: which models play as which role, in short, to distinguish teams with the same evaluated model. Who has no model and is
-- no part of the team (a user, a tool in a foreign log) is left out.
-- One row is a game.
-- Materialized: by game
create or replace view team_names as
with players as (
    select agents.episode_id, agents.role, coalesce(agents.model, '?') as model, count(*) as n
    from unmaterialized('agents') as agents
    inner join unmaterialized('episodes') as episodes using (episode_id)
    where agents.model is not null or episodes.team is null or list_contains(json_keys(episodes.team), agents.role)
    group by all
),

-- the role of the evaluated model is first
roles as (
    select
        players.episode_id, players.role,
        bool_or(players.model = episodes.model) as is_evaluated,
        count(*) as models,
        string_agg(
            players.model || case when n > 1 then ' ×' || n else '' end, ' + '
            order by n desc, players.model
        ) as counted,
        any_value(players.model) as single
    from players
    inner join unmaterialized('episodes') as episodes using (episode_id)
    group by players.episode_id, players.role
),

named as (
    select
        episode_id, case
            when max(models) = 1 and min(single) = max(single) then min(single)
            else string_agg(role || ' ' || case when models = 1 then single else counted end, ', ' order by is_evaluated desc, role)
        end as composition
    from roles
    group by episode_id
)

select episodes.episode_id, case when named.composition is null or named.composition = '?' then episodes.model else named.composition end as team_name
from unmaterialized('episodes') as episodes
left join named using (episode_id);

-- run_conditions: the condition of each run as one short text.
-- One row is a run.
create or replace view run_conditions as
with own as (
    select distinct run_id
    from episodes
    inner join sources using (source_id)
    where sources.format = 'cotrace'
),

called as (
    select
        runs.run_id, runs.benchmark,
        coalesce(written.condition, runs.name) as name,
        -- what does not part conditions that a family writes: repetitions are pooled, and turn limits are a column of their own
        case when written.condition is null then [] else ['run', 'max_turns', 'provider_group'] end as passed_over
    from runs
    left join every_family('run_conditions') as written using (run_id)
),

switches as (
    select
        called.run_id, called.benchmark, called.name, keys.switch,
        json_extract_string(runs.condition, '$."' || replace(keys.switch, '"', '') || '"') as value
    from called
    inner join own using (run_id)
    inner join runs using (run_id), unnest(json_keys(runs.condition)) as keys (switch)
    where json_type(runs.condition) = 'OBJECT' and not list_contains(called.passed_over, keys.switch)
),

differing as (
    select benchmark, name, switch
    from switches
    where not starts_with(coalesce(value, ''), '{')
    group by benchmark, name, switch
    having count(distinct coalesce(value, 'null')) > 1
),

switched as (
    select run_id, string_agg(switch || ' ' || coalesce(value, 'none'), ', ' order by switch) as differences
    from switches
    inner join differing using (benchmark, name, switch)
    group by run_id
)

select called.run_id, called.benchmark, concat_ws(': ', called.name, switched.differences) as condition
from called
left join switched using (run_id);

-- compared_games: each game with its team, its task and the bounds of its score: what teams are compared by.
-- One row is a game; as in games, one that the store has twice is listed once.
-- Columns as in: games.
create or replace view compared_games as
with goals as (
    select benchmark, task_id, count(distinct goal::varchar) > 1 as has_several
    from episodes
    group by all
),

ranges as (
    select benchmark, min(score) >= 0 and max(score) <= 1 as is_share
    from episodes
    group by all
)

select
    games.*,
    team_names.team_name, episodes.max_turns,
    runs.name as run_name,
    case when goals.has_several then episodes.task_id || ' ' || left(md5(episodes.goal::varchar), 6) else episodes.task_id end as task,
    bounds.game,
    case when bounds.run_id is not null then bounds.score_max when ranges.is_share then 1 end as score_max
from games
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join team_names using (episode_id)
inner join goals on episodes.benchmark = goals.benchmark and episodes.task_id is not distinct from goals.task_id
inner join ranges on episodes.benchmark = ranges.benchmark
left join every_family('score_bounds') as bounds using (run_id);

-- compared_steps: each turn with its team, its task, what became of it and what it gained: compared_turns without the columns that are counted from texts.
-- One row is a turn of a game that ended; a game that the store has twice is listed once.
create or replace view compared_steps as
select
    turn_steps.episode_id, turn_steps.turn, compared_games.benchmark, compared_games.condition, compared_games.team_name,
    compared_games.task, compared_games.game, turn_steps.step,
    case turn_steps.outcome when 'followed' then 1.0::double when 'not_followed' then 0.0::double end as followed,
    turn_steps.accepted::int::double as accepted,
    turn_steps.undoes::int::double as undoes,
    turn_steps.progress, turn_steps.gain
from turn_steps
inner join compared_games using (episode_id)
where compared_games.ending = 'ended';

-- compared_turns: each turn with its team, its task, what became of it and what it gained: what models of turns are made from.
-- One row is a turn of a game that ended; a game that the store has twice is listed once.
create or replace view compared_turns as
with spoken as (
    select episode_id, turn, avg(len(regexp_extract_all(text, '\S+'))) as words
    from utterances
    where channel = 'public' and not superseded
    group by all
)

select compared_steps.* exclude (progress, gain), spoken.words, compared_steps.progress, compared_steps.gain
from compared_steps
left join spoken using (episode_id, turn);
