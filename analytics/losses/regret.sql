-- step_regrets: what each game lost by the step that failed.
-- One row is (episode_id, step) of attributions, and one for all steps together.
-- Materialized: by judged game
create or replace view step_regrets as
select episode_id, step, count(distinct turn) as turns, sum(cost) as cost
from (
    select episode_id, turn, coalesce(failure_steps.step, 'undecided') as step, cost
    from unmaterialized('attributions') as attributions
    left join failure_steps using (link)
    where cost > 0 and isfinite(cost)
)
group by grouping sets ((episode_id, step), (episode_id));

-- regret_by_step: which step failed: the share of all that the chosen games lost, by step; a table macro.
-- One row is a step (failure_steps; `undecided` where nothing can be proven) of a benchmark whose attributed games lost something.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: regret-by-step, ordered by benchmark, share desc, step
create or replace macro regret_by_step(chosen := true) as table
with found as (
    select games.benchmark, episode_id, lost.step, lost.cost, lost.turns
    from step_regrets as lost
    inner join (select * from games where chosen) as games using (episode_id)
),

sums as (
    select benchmark, episode_id, cost as whole
    from found
    where step is null
),

filled as (
    select sums.benchmark, steps.step, sums.whole, coalesce(found.cost, 0) as cost, coalesce(found.turns, 0) as turns
    from sums
    inner join (select distinct benchmark, step from found where step is not null) as steps using (benchmark)
    left join found on sums.episode_id = found.episode_id and steps.step = found.step
)

select
    benchmark, step,
    count(*) as games,
    sum(turns)::bigint as turns,
    sum(cost) as cost,
    sum(cost) / sum(whole) as share,
    cluster_low(cost, whole) as share_low,
    cluster_high(cost, whole) as share_high
from filled
group by all;

-- regret_by_team: what a game of each team lost, by failure point and by whose it was; a table macro.
-- One row is (benchmark, team_name, link, step, part, role) of a team whose attributed games lost something.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: regret-by-team, ordered by benchmark, team_name, cost desc, link, role
-- Shows: team_name, step, link, role, turns, cost_a_game, share, unit
create or replace macro regret_by_team(chosen := true) as table
with played as (
    select episode_id, benchmark, model, team_name, hash(benchmark, team_name) as team_key
    from (select * from games where chosen) as chosen_games
    inner join team_names using (episode_id)
),

teams as (
    select
        team_key,
        any_value(benchmark) as benchmark, any_value(team_name) as team_name, any_value(model) as model,
        count(distinct episode_id) as games,
        min(game_costs.unit) as unit
    from game_costs
    inner join played using (episode_id)
    group by all
),

agents_of_teams as (
    select
        team_key, regrets.agent, regrets.role, regrets.model, regrets.link, regrets.status,
        sum(regrets.parts) as turns,
        sum(regrets.cost) as cost
    from game_regrets as regrets
    inner join played using (episode_id)
    group by all
),

found as (
    select
        team_key, teams.benchmark, teams.team_name, teams.model, teams.games, teams.unit, lost.link,
        coalesce(failure_steps.step, 'undecided') as step,
        case when lost.status = 'answered' then coalesce(lost.role, lost.agent, 'no one at fault') else lost.status end as part,
        part || coalesce(' ' || case when lost.model <> teams.team_name then lost.model end, '') as role,
        sum(lost.turns)::bigint as turns,
        sum(lost.cost) as cost
    from agents_of_teams as lost
    inner join teams using (team_key)
    left join failure_steps using (link)
    group by all
)

select
    benchmark, team_name, model, link, step, part, role, turns, cost, games,
    cost / games as cost_a_game,
    cost / sum(cost) over (partition by team_key) as share,
    unit
from found;

-- regret_curve: what a game of each team had lost up to each turn, on average; a game that has ended retains its value; a table macro.
-- One row is a turn of a team with games that have values.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: regret-curve, ordered by benchmark, team_name, turn
create or replace macro regret_curve(chosen := true) as table
with played as (
    select episode_id, benchmark, team_name, hash(benchmark, team_name) as team_key
    from (select * from games where chosen) as chosen_games
    inner join team_names using (episode_id)
),

teams as (
    select team_key, any_value(benchmark) as benchmark, any_value(team_name) as team_name, count(distinct episode_id) as games
    from game_costs
    inner join played using (episode_id)
    group by all
),

lost as (
    select team_key, turn, sum(greatest(cost, 0)) as cost, min(unit) as unit
    from every_family('turn_costs')
    inner join played using (episode_id)
    where isfinite(cost)
    group by all
)

select
    teams.benchmark, teams.team_name, lost.turn, teams.games,
    sum(lost.cost) over (partition by team_key order by lost.turn) / teams.games as lost_a_game,
    lost.unit
from lost
inner join teams using (team_key);

-- blamed_roles: how often people, rules and judges each blame a role for a failed game; a table macro.
-- One row is a role and a source of blame: all people together, or a judge in one manner of asking.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: blamed-roles, ordered by benchmark, source <> 'people', source <> 'rules', judge, share desc, role
create or replace macro blamed_roles(chosen := true) as table
with found as (
    select benchmark, source, if(source = 'people', source, judge) as judge, episode_id, coalesce(role, agent) as role
    from blamed_agents as named
    where episode_id in (select episode_id from games where chosen)
),

asked as (
    select benchmark, source, judge, episode_id, count(*) as names
    from found
    group by all
),

hits as (
    select judge, episode_id, role, count(*) as hits
    from found
    group by all
),

filled as (
    select asked.*, roles.role, coalesce(hits.hits, 0) as hits
    from asked
    inner join (select distinct benchmark, role from found) as roles using (benchmark)
    left join hits on asked.judge = hits.judge and asked.episode_id = hits.episode_id and roles.role = hits.role
)

select
    benchmark, source, judge, role,
    count(*) as games,
    sum(hits) / sum(names) as share,
    cluster_low(hits, names) as share_low,
    cluster_high(hits, names) as share_high
from filled
group by all;

-- failure_modes: in what share of the games each failure mode of MAST was found, by people and by judges; a table macro.
-- One row is (benchmark, judge, question): all people together are one judge.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: failure-modes, ordered by benchmark, judge <> 'people', judge, share desc, question
create or replace macro failure_modes(chosen := true) as table
with answers as (
    select 'people' as judge, question, episode_id, answer
    from labels
    where rubric = 'mast' and not starts_with(source, 'planted') and not starts_with(annotator, 'llm:')
    union all by name
    select judge, question, episode_id, answer
    from verdicts
    where rubric = 'mast' and variant is null and status = 'answered'
),

by_game as (
    select games.benchmark, judge, question, episode_id, sum((answer = 'yes')::int) as found, count(*) as asked
    from answers
    inner join games using (episode_id)
    where answer in ('yes', 'no') and episode_id in (select episode_id from games where chosen)
    group by all
)

select
    benchmark, judge, question,
    count(*) as games,
    sum(found) / sum(asked) as share,
    cluster_low(found, asked) as share_low,
    cluster_high(found, asked) as share_high
from by_game
group by all;
