-- action_follows: which message each action fulfilled: everything that was asked for, and what became of it in the turn.
-- One row is a request of a message, as far as it was understood; `cotrace attribute` works it out.
-- Report: action-follows, ordered by benchmark, model, task_id, episode_id, turn, seq
-- Shows: model, task_id, turn, agent, request, followed, right, accepted
create or replace view action_follows as
select
    requests.episode_id, requests.turn, games.benchmark, games.condition, games.model, games.task_id, requests.seq,
    requests.agent, agents.role,
    agents.persona as archetype,
    requests.actor, requests.request, requests.followed,
    requests."right",
    done.accepted
from requests
inner join games using (episode_id)
left join agents on requests.episode_id = agents.episode_id and requests.agent = agents.agent
left join (
    select episode_id, turn, agent, bool_or(accepted) as accepted
    from actions
    group by episode_id, turn, agent
) as done
    on requests.episode_id = done.episode_id and requests.turn = done.turn and requests.actor = done.agent;

-- turn_costs: what each turn cost, by its benchmark's main measure (docs/values.md).
-- One row is a turn of a game that has values.
create or replace view turn_costs as
select
    valued.episode_id, valued.turn, games.benchmark, games.condition, games.model, games.builder, team_names.team_name,
    games.task_id, games.level, valued.measure, valued.value_before, valued.value_after, valued.cost, valued.unit,
    valued.kind, valued.lost_before, valued.lost
from every_family('turn_costs') as valued
inner join games using (episode_id)
inner join team_names using (episode_id);

-- game_costs: what each game lost, by its benchmark's main measure.
-- One row is (episode_id, unit) of a game that has values.
-- Materialized: by game
create or replace view game_costs as
with inside as (
    select distinct episode_id, unnest(range(start_turn, end_turn + 1)) as turn
    from (
        select episode_id, start_turn, end_turn from unmaterialized('game_spirals')
        union all
        select episode_id, start_turn, end_turn from unmaterialized('dialogue_spirals')
    )
)

select
    episode_id, unit,
    count(*) as turns,
    sum(greatest(cost, 0)) as lost,
    var_pop(greatest(cost, 0)) as variance,
    count(inside.turn) as spiral_turns,
    coalesce(sum(greatest(cost, 0)) filter (inside.turn is not null), 0) as spiral_lost
from unmaterialized(every_family('turn_costs'))
left join inside using (episode_id, turn)
where isfinite(cost)
group by episode_id, unit;

-- attributed_costs: the agent and the failure point that each turn's cost is attributed to (docs/attribution.md), by `cotrace attribute`.
-- One row is a part of a turn's cost, or a fault without consequence (cost 0).
-- Report: attributions, ordered by benchmark, cost desc, episode_id, turn, agent
-- Shows: model, task_id, turn, agent, link, status, cost, judge, evidence
create or replace view attributed_costs as
select
    found.episode_id, found.turn, games.benchmark, games.condition, games.model, games.builder, team_names.team_name,
    games.task_id, games.level, found.agent, agents.role,
    agents.model as agent_model,
    agents.persona as archetype,
    found.link, found.cost, valued.unit, found.regained, found.evidence, found.judge, found.status
from attributions as found
inner join games using (episode_id)
inner join team_names using (episode_id)
left join agents on found.episode_id = agents.episode_id and found.agent = agents.agent
left join (select episode_id, any_value(unit) as unit from every_family('turn_costs') group by all) as valued
    on found.episode_id = valued.episode_id;

-- attributed_faults: the failure points that costs are attributed to, each with its turn; columns that both have are named after their owner.
-- One row is a failure point of a turn, as in attributions.
create or replace view attributed_faults as
select
    attributions.episode_id, attributions.turn, attributions.agent, attributions.link,
    attributions.cost as fault_cost,
    attributions.regained,
    attributions.evidence as fault_evidence,
    attributions.judge as fault_judge,
    attributions.status as fault_status,
    turn_costs.benchmark, team_names.team_name, turn_costs.condition, turn_costs.task_id, turn_costs.level,
    turn_costs.cost as turn_cost,
    turn_costs.unit as cost_unit,
    turn_costs.lost
from attributions
inner join turn_costs on attributions.episode_id = turn_costs.episode_id and attributions.turn = turn_costs.turn
left join team_names on attributions.episode_id = team_names.episode_id;

-- category_costs: what the turns of each category lost in each game.
-- One row is (episode_id, taxonomy, category, unit) of a game that has values.
-- Materialized: by game
create or replace view category_costs as
select marked.episode_id, marked.taxonomy, marked.category, valued.unit, count(*) as turns, sum(greatest(valued.cost, 0)) as cost
from (select distinct episode_id, turn, taxonomy, category from unmaterialized('logged_failures')) as marked
inner join unmaterialized(every_family('turn_costs')) as valued using (episode_id, turn)
where isfinite(valued.cost)
group by all;

-- category_costs_by: what the turns of each failure category lost together in the chosen games, by team or by another column; a table macro.
-- One row is a category of a taxonomy in (benchmark, model, team_name, condition, level, turn).
-- Parameters: per: `team` for model, team_name and condition together, or `condition`, `model`, `level` or `turn` alone; the others are null;
-- chosen: condition on the columns of `games`, true for all of them.
create or replace macro category_costs_by(per := 'team', chosen := true) as table
with of_game as (
    select
        games.episode_id, games.benchmark,
        case when per in ('team', 'model') then games.model end as model,
        case when per = 'team' then team_names.team_name end as team_name,
        case when per in ('team', 'condition') then games.condition end as condition,
        case when per = 'level' then games.level end as level
    from (select * from games where chosen) as games
    inner join team_names using (episode_id)
),

lost as (
    select of_game.* exclude (episode_id), valued.unit, valued.turn, sum(valued.lost) as cost
    from (
        select episode_id, unit, null::integer as turn, lost
        from game_costs
        where per <> 'turn'
        union all by name
        select episode_id, unit, turn, greatest(cost, 0) as lost
        from turn_costs
        where per = 'turn' and isfinite(cost)
    ) as valued
    inner join of_game using (episode_id)
    group by all
),

found as (
    select
        of_game.* exclude (episode_id), valued.unit, valued.turn, valued.taxonomy, valued.category,
        sum(valued.turns)::bigint as turns,
        sum(valued.cost) as cost
    from (
        select episode_id, unit, null::integer as turn, taxonomy, category, turns, cost
        from category_costs
        where per <> 'turn'
        union all by name
        select episode_id, unit, turn, taxonomy, category, 1 as turns, greatest(cost, 0) as cost
        from (select distinct episode_id, turn, taxonomy, category from logged_failures where per = 'turn') as marked
        inner join turn_costs using (episode_id, turn)
        where isfinite(cost)
    ) as valued
    inner join of_game using (episode_id)
    group by all
)

select
    found.benchmark, found.model, found.team_name, found.condition, found.level, found.turn, found.taxonomy, found.category,
    found.turns, found.cost,
    lost.cost as whole,
    found.cost / found.turns as cost_a_turn,
    case when lost.cost > 0 then found.cost / lost.cost end as share,
    found.unit
from found
inner join lost
    on found.benchmark = lost.benchmark
    and found.unit = lost.unit
    and found.model is not distinct from lost.model
    and found.team_name is not distinct from lost.team_name
    and found.condition is not distinct from lost.condition
    and found.level is not distinct from lost.level
    and found.turn is not distinct from lost.turn;

-- cost_by_category: which failure categories carry the cost: what the turns of each category lost together.
-- One row is a category of a taxonomy in the games of one team under one condition.
-- Columns as in: category_costs_by.
-- Report: cost-by-category, ordered by benchmark, team_name, condition, taxonomy, cost desc, category
create or replace view cost_by_category as
select * exclude (level, turn) from category_costs_by();

-- cost_curve: what each game had lost up to each turn.
-- One row is a turn of a game that has values.
-- Columns as in: turn_costs.
create or replace view cost_curve as
select *, case when not bool_or(kind = 'none') over so_far then sum(cost) over so_far end as lost_so_far
from turn_costs
window so_far as (partition by episode_id order by turn);

-- cost_in_spirals: what a turn inside a correction spiral loses, against a turn outside, within the same team and within the same games.
-- Games that go badly have many turns in spirals and lose much on each turn, inside or outside. So turns inside are compared with what they
-- would lose if the turns of each game came in any order: exact for games of any length. The interval is Student's t between games, or
-- that of drawing as many turns from each game (Cochran 1977, Sampling Techniques, 2.6), if that is wider: losses are rare and skewed.
-- One row is a team under one condition with games that have values.
-- Report: cost-in-spirals, ordered by benchmark, team_name, condition
create or replace view cost_in_spirals as
with games_of_teams as (
    select
        games.benchmark, games.model, team_names.team_name, games.condition, costs.unit, costs.turns, costs.lost, costs.variance,
        costs.spiral_turns as turns_inside,
        costs.spiral_lost as lost_inside
    from game_costs as costs
    inner join games using (episode_id)
    inner join team_names using (episode_id)
),

teams as (
    select
        benchmark, model, team_name, condition, unit,
        sum(turns_inside) as turns_inside,
        sum(turns) - sum(turns_inside) as turns_outside,
        sum(lost_inside) as lost_inside,
        sum(lost) as lost,
        sum(turns_inside * lost / turns) as expected,
        t_critical(sum(turns_inside) ** 2 / nullif(sum(turns_inside ** 2), 0) - 1) as t,
        nullif(greatest(
            t * cluster_sem(lost_inside - turns_inside * lost / turns, turns_inside),
            1.959964 * sqrt(sum(variance * turns_inside * (turns - turns_inside) / greatest(turns - 1, 1))) / nullif(sum(turns_inside), 0)
        ), 0) as half
    from games_of_teams
    group by all
)

select
    benchmark, model, team_name, condition,
    turns_inside::bigint as turns_inside,
    turns_outside::bigint as turns_outside,
    lost_inside / nullif(turns_inside, 0) as cost_inside,
    (lost - lost_inside) / nullif(turns_outside, 0) as cost_outside,
    expected / nullif(turns_inside, 0) as cost_expected,
    (lost_inside - expected) / nullif(turns_inside, 0) as more,
    case when t is not null then more - half end as more_low,
    case when t is not null then more + half end as more_high,
    case when lost > 0 then lost_inside / lost end as share_inside,
    unit
from teams;

-- costly_turns: the turns that lost something, and what share of their game's losses.
-- One row is a turn that cost more than 0.
-- Columns as in: turn_costs.
-- Report: costly-turns, ordered by benchmark, cost desc, episode_id, turn
create or replace view costly_turns as
select
    *,
    sum(cost) over game as lost_in_game,
    case when isfinite(sum(cost) over game) then cost / sum(cost) over game end as share
from turn_costs
where cost > 1e-9
window game as (partition by episode_id);

-- decisive_turns: the turn that decided each game.
-- One row is a game with a turn that cost something: the turn after which success could no more be reached or, where there is none
-- because success was out of reach from the start or is within it still, the turn that cost most, the first of equals.
-- Columns as in: turn_costs.
-- Report: decisive-turns, ordered by benchmark, model, task_id, episode_id
create or replace view decisive_turns as
with measured as (
    select
        *,
        coalesce(lost and not lost_before, false) as out_of_reach,
        sum(greatest(cost, 0)) over (partition by episode_id) as lost_in_game
    from turn_costs
)

select
    * exclude (out_of_reach, lost_in_game),
    case when out_of_reach then 'out_of_reach' else 'largest_cost' end as why,
    lost_in_game,
    case when isfinite(lost_in_game) then cost / lost_in_game end as share,
    case
        when out_of_reach then [turn]
        else list(turn order by turn) over (partition by episode_id, out_of_reach, round(cost, 9))
    end as equal_turns
from measured
where cost > 1e-9
qualify row_number() over (partition by episode_id order by out_of_reach desc, round(cost, 9) desc, turn) = 1;

-- game_blames: whose mistake decided each game, by people, by rules and by judges, as blamed_agents has it.
-- One row is a game and a source that names an agent.
-- Materialized: by judged game
create or replace view game_blames as
with labelled as (
    select
        episode_id, 'people' as source, annotator as judge,
        max(answer) filter (question = 'agent') as agent,
        try_cast(max(answer) filter (question = 'step') as bigint) as turn
    from unmaterialized('labels') as labels
    where rubric = 'decisive_error' and not starts_with(source, 'planted') and not starts_with(annotator, 'llm:')
    group by all
    union all by name
    select episode_id, 'people' as source, annotator as judge, arg_min(agent, (turn, agent)) as agent, min(turn) as turn
    from unmaterialized('labels') as labels
    where rubric = 'trail' and answer = 'high' and agent is not null
    group by all
),

shares as (
    select episode_id, judge, agent, round(sum(cost), 9) as cost, arg_max(turn, (cost, -turn)) as turn
    from unmaterialized('attributions') as attributions
    where agent is not null and cost > 0 and isfinite(cost)
    group by all
),

ruled as (
    select episode_id, 'rules' as source, judge, arg_max(agent, (cost, -turn, agent)) as agent, arg_max(turn, (cost, -turn, agent)) as turn
    from shares
    group by episode_id, judge
),

answered as (
    select
        episode_id, 'judge' as source,
        judge || coalesce(' (' || replace(variant, '_', ' ') || ')', '') as judge,
        max(answer) filter (question = 'agent') as agent,
        try_cast(max(answer) filter (question = 'step') as bigint) as turn
    from unmaterialized('verdicts') as verdicts
    where rubric = 'decisive_error' and status = 'answered'
    group by all
)

select episode_id, source, judge, agent, turn
from (
    select * from labelled
    union all by name
    select * from ruled
    union all by name
    select * from answered
)
where agent is not null;

-- blamed_agents: whose mistake decided each game, by people, by rules and by judges.
-- One row is a game and a source that names an agent: an annotator, the rules, or a judge in one manner of asking.
-- Report: blamed-agents, ordered by benchmark, task_id, episode_id, source, judge, agent
-- Shows: task_id, source, judge, agent, turn
create or replace view blamed_agents as
select
    found.episode_id, games.benchmark, games.condition, games.model, team_names.team_name, games.task_id,
    found.source, found.judge, found.agent, agents.role, found.turn
from game_blames as found
inner join games using (episode_id)
inner join team_names using (episode_id)
left join agents on found.episode_id = agents.episode_id and found.agent = agents.agent;
