-- game_process: how each game was played, in its family's measures of it: the remove gap in CRAFT.
-- One row is a game and a measure.
-- Materialized: by game
create or replace view game_process as
select * from unmaterialized(every_family('process')) as process;

-- game_regrets: the regret of each game by agent and failure point, of turns that lost something.
-- One row is (episode_id, agent, link, status) of attributions.
-- Materialized: by judged game
create or replace view game_regrets as
select
    found.episode_id, found.agent, agents.role, agents.model, found.link, found.status,
    count(distinct found.turn) as turns,
    count(*) as parts,
    sum(found.cost) as cost
from unmaterialized('attributions') as found
left join unmaterialized('agents') as agents on found.episode_id = agents.episode_id and found.agent = agents.agent
where found.cost > 1e-9 and isfinite(found.cost)
group by all;

-- team_overview_by: how far each team got, next to how it worked: the front page's figure, a row a team; a table macro.
-- One row is (benchmark, condition, model, team, team_name, max_turns).
-- Parameters: levels: list of the levels whose games count, null for all; measure: which process measure, null for the one that is shown first.
create or replace macro team_overview_by(levels := null, measure := null) as table
with games_of_teams as (
    select
        episode_id, task, benchmark,
        hash(benchmark, condition, model, team, team_name, max_turns) as team_key
    from compared_games
    where ending = 'ended' and (levels is null or list_contains(levels, level))
),

measured as (
    select games_of_teams.team_key, games_of_teams.task, episode_id, found.process, found.value, found.least, found.most
    from game_process as found
    inner join games_of_teams using (episode_id)
    where found.value is not null and case when measure is null then found.is_default else found.process = measure end
),

-- of a team with a single task the games vary
clustered as (
    select *, case when min(task) over of_team = max(task) over of_team then episode_id else task end as cluster
    from measured
    window of_team as (partition by team_key)
),

by_cluster as (
    select
        team_key, cluster,
        any_value(process) as process, any_value(least) as least, any_value(most) as most,
        count(*) as n,
        sum(value) as total,
        sum((value - least) / (most - least)) as share
    from clustered
    group by all
),

processes as (
    select
        team_key,
        any_value(process) as process,
        sum(n)::bigint as process_n,
        sum(total) / sum(n) as process_mean,
        any_value(least) as least, any_value(most) as most,
        cluster_sem(total, n) as sem,
        t_critical(greatest(sum(n) ** 2 / nullif(sum(n * n), 0) - 1, 1)) as t,
        cluster_low(share, n) as share_low,
        cluster_high(share, n) as share_high
    from by_cluster
    group by all
),

seen as (
    select games_of_teams.team_key, game_counts.spiral_turns as turns, game_counts.spiral_inside as inside
    from games_of_teams
    inner join game_counts using (episode_id)
    where game_counts.spiral_turns > 0
),

spirals as (
    select
        team_key,
        count(*) as spiral_games,
        sum(turns)::bigint as spiral_turns,
        sum(inside)::bigint as spiral_inside,
        sum(inside) / nullif(sum(turns), 0) as spiral_share,
        cluster_low(inside, turns) as spiral_low,
        cluster_high(inside, turns) as spiral_high
    from seen
    group by all
),

lost as (
    select games_of_teams.team_key, game_costs.unit, game_costs.lost
    from game_costs
    inner join games_of_teams using (episode_id)
),

regrets as (
    select team_key, any_value(unit) as unit, count(*) as regret_n, avg(lost) as regret
    from lost
    group by all
)

select
    board.benchmark, board.condition, board.model, board.team, board.team_name, board.max_turns, board.game,
    board.games - board.broken - board.cut as games,
    board.n, board.score_mean, board.score_low, board.score_high, board.score_max, board.successes, board.success_n,
    board.success_rate, board.success_low, board.success_high, processes.process,
    coalesce(processes.process_n, 0) as process_n,
    processes.process_mean,
    case
        when processes.most is not null then processes.least + processes.share_low * (processes.most - processes.least)
        when processes.sem > 0 then greatest(processes.process_mean - processes.t * processes.sem, processes.least)
    end as process_low,
    case
        when processes.most is null then processes.process_mean + processes.t * nullif(processes.sem, 0)
        else processes.least + processes.share_high * (processes.most - processes.least)
    end as process_high,
    coalesce(spirals.spiral_games, 0) as spiral_games,
    coalesce(spirals.spiral_turns, 0) as spiral_turns,
    spirals.spiral_inside, spirals.spiral_share, spirals.spiral_low, spirals.spiral_high,
    coalesce(regrets.regret_n, 0) as regret_n,
    regrets.regret, regrets.unit
from (
    select *, hash(benchmark, condition, model, team, team_name, max_turns) as team_key
    from leaderboard_by(levels := levels)
) as board
left join processes using (team_key)
left join spirals using (team_key)
left join regrets using (team_key);

-- team_overview: how far each team got, next to how it worked.
-- One row is (benchmark, condition, model, team, team_name, max_turns).
-- Columns as in: team_overview_by.
-- Report: overview, ordered by benchmark, score_mean desc nulls last, model, condition
-- Shows: benchmark, team_name, condition, n, score_mean, success_rate, process_mean, spiral_share, regret
create or replace view team_overview as
select * from team_overview_by();

-- shown_failures: the categories of the turns that count, in the taxonomy that is shown where none is asked for (default_taxonomies).
-- One row is a row of `failures`: (turn, agent, category).
create or replace view shown_failures as
select
    failure_turns.episode_id, failure_turns.turn, failure_turns.agent, failure_turns.benchmark, failure_turns.taxonomy,
    failure_turns.category, failure_kinds.common, failure_kinds.wrong
from failure_turns
inner join default_taxonomies using (benchmark, taxonomy)
inner join failure_kinds using (taxonomy, category)
where failure_turns.counted;

-- team_failures_by: on how many turns of each team each category of failure occurs, in the taxonomy that is shown first; a table macro.
-- One row is (benchmark, condition, model, team, team_name, max_turns, category).
-- Parameters: levels: list of the levels whose games count, null for all.
create or replace macro team_failures_by(levels := null) as table
with counted as (
    select
        compared_games.benchmark, compared_games.condition, compared_games.model, compared_games.team,
        compared_games.team_name, compared_games.max_turns, found.taxonomy, found.category,
        sum(found.turns)::bigint as turns,
        count(*) as games
    from game_categories as found
    inner join compared_games using (episode_id)
    inner join default_taxonomies on compared_games.benchmark = default_taxonomies.benchmark and found.taxonomy = default_taxonomies.taxonomy
    where
        compared_games.ending = 'ended' and (levels is null or list_contains(levels, compared_games.level))
        and found.category is distinct from 'no_oracle_or_attempt'
    group by all
),

keyed as (
    select *, hash(benchmark, condition, model, team, team_name, max_turns) as team_key
    from counted
)

select
    kinds.* exclude (team_key, turns, games),
    failure_kinds.common, failure_kinds.wrong, kinds.turns,
    sizes.turns as denominator,
    sizes.games,
    kinds.turns / sizes.turns as share
from keyed as kinds
inner join keyed as sizes on kinds.team_key = sizes.team_key and sizes.category is null
inner join failure_kinds on kinds.taxonomy = failure_kinds.taxonomy and kinds.category = failure_kinds.category;

-- team_regret_by: what each agent of a team lost per game, by attribution; a table macro.
-- One row is (benchmark, condition, model, team, team_name, max_turns, agent, link, status).
-- Parameters: levels: list of the levels whose games count, null for all.
create or replace macro team_regret_by(levels := null) as table
with games_of_teams as (
    select
        episode_id, benchmark, condition, model, team, team_name, max_turns,
        hash(benchmark, condition, model, team, team_name, max_turns) as team_key
    from compared_games
    where ending = 'ended' and (levels is null or list_contains(levels, level))
),

valued as (
    select games_of_teams.team_key, count(*) as games, any_value(game_costs.unit) as unit
    from game_costs
    inner join games_of_teams using (episode_id)
    group by all
)

select
    games_of_teams.benchmark, games_of_teams.condition, games_of_teams.model, games_of_teams.team, games_of_teams.team_name,
    games_of_teams.max_turns, found.agent, found.link, found.status,
    sum(found.turns)::bigint as turns,
    sum(found.cost) as cost,
    any_value(valued.games) as games,
    sum(found.cost) / any_value(valued.games) as cost_a_game,
    any_value(valued.unit) as unit
from game_regrets as found
inner join games_of_teams using (episode_id)
inner join valued using (team_key)
group by all;

-- turn_course: how each turn of a game went, as far as its log alone tells: what the small multiples of the front page draw.
-- One row is a turn after the start.
-- Materialized: by game
create or replace view turn_course as
with marked as (
    select distinct episode_id, unnest(range(start_turn, end_turn + 1)) as turn
    from (
        select episode_id, start_turn, end_turn from unmaterialized('game_spirals')
        union all
        select episode_id, start_turn, end_turn from unmaterialized('dialogue_spirals')
    )
),

taken_back as (
    select episode_id, turn, bool_or(undoes) as removed
    from unmaterialized('actions')
    where undoes is not null
    group by all
),

listed as (
    select episode_id, turn, count(*) filter (undoes) / count(*) as verified
    from unmaterialized('oracle_actions')
    where listed and undoes is not null
    group by all
)

select
    turns.episode_id, turns.turn, turns.progress, taken_back.removed, listed.verified,
    case when seen.episode_id is not null then marked.turn is not null end as in_spiral,
    case
        when turns.progress is not null
            then lead(turns.turn) over (partition by turns.episode_id, turns.progress is null order by turns.turn)
    end as until
from unmaterialized('turns') as turns
left join taken_back using (episode_id, turn)
left join listed using (episode_id, turn)
left join marked using (episode_id, turn)
left join unmaterialized('spiral_games') as seen using (episode_id)
where turns.turn > 0;

-- team_turns_by: how each team's games go turn by turn: the small multiples of the front page; a table macro.
-- One row is (benchmark, condition, model, team, team_name, max_turns, turn).
-- Parameters: levels: list of the levels whose games count, null for all.
create or replace macro team_turns_by(levels := null) as table
with games_of_teams as (
    select
        episode_id, benchmark, condition, model, team, team_name, max_turns,
        hash(benchmark, condition, model, team, team_name, max_turns) as team_key
    from compared_games
    where ending = 'ended' and (levels is null or list_contains(levels, level))
),

played as (
    select games_of_teams.team_key, turn_course.*
    from turn_course
    inner join games_of_teams using (episode_id)
),

lengths as (
    select team_key, max(turn) as longest
    from played
    group by all
),

-- a game that ended counts with its last progress to the end of the team's longest game
progressed as (
    select team_key, turn, progress
    from played
    where progress is not null
    union all
    select team_key, unnest(range(turn + 1, coalesce(until, longest + 1))) as turn, progress
    from played
    inner join lengths using (team_key)
    where progress is not null and until is distinct from turn + 1
),

scores as (
    select team_key, turn, count(*) as score_n, avg(progress) as score
    from progressed
    group by all
),

failing as (
    select team_key, turn, count(*) as failing_n, avg(fails::int) as failing
    from (
        select * from failing_turns
        union all by name
        select episode_id, turn, 'contradictions' as taxonomy, bool_or(contradicts) as fails from contradictions_read group by all
    ) as found
    inner join games_of_teams using (episode_id)
    inner join default_taxonomies using (benchmark, taxonomy)
    group by all
),

counted as (
    select
        played.team_key, played.turn,
        count(*) as games,
        count(removed) as removed_n,
        avg(removed::int) as removed,
        count(verified) as verified_n,
        avg(verified) as verified,
        count(in_spiral) as spiral_n,
        avg(in_spiral::int) as in_spiral
    from played
    group by all
),

teams as (
    select distinct team_key, benchmark, condition, model, team, team_name, max_turns
    from games_of_teams
)

select
    teams.* exclude (team_key),
    counted.turn, counted.games,
    coalesce(scores.score_n, 0) as score_n,
    scores.score, counted.removed_n, counted.removed, counted.verified_n, counted.verified, counted.spiral_n,
    counted.in_spiral,
    coalesce(failing.failing_n, 0) as failing_n,
    failing.failing
from counted
inner join teams using (team_key)
left join scores using (team_key, turn)
left join failing using (team_key, turn);

-- failure_steps: the step to which each failure point of an attribution belongs: seeing, saying, understanding or acting; a table of data.
-- One row is a failure point.
create or replace view failure_steps as
select link, step from rows_of('failure_steps.csv');
