-- scored_turns: everything about a turn and an agent in one row: who, how the game ended, what was said and tried, what came of it, what it
-- cost, and what judges and people answered. Most questions need no other view.
-- One row is (episode_id, turn, agent); a turn on which nobody spoke or acted has one row without an agent. What is said of the whole turn
-- (outcome, progress, cost, answers about a group) stands in each row of the turn: count turns with count(distinct episode_id || '/' || turn).
--   episode_id  text  the game
--   turn  number  from 1
--   agent  text  who; null where nobody spoke or acted
--   role  text  what it does
--   agent_model  text  the model behind the agent; null if the log does not say
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model of the game
--   team_name  text  the team in short, as in team_names
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   seed  number  tells repetitions apart; null if the log has none
--   turns_taken  turns  length of the game
--   ending  text  ended, cut or not_set_up, as in games
--   game_success  flag  the goal was reached; null unless the game ended, or if the log does not say
--   game_score  number  the benchmark's main end-to-end metric; null unless the game ended
--   message  text  what the agent said to others on this turn; null if nothing
--   thought  text  its private reasoning on this turn; null if none is logged
--   verbs  list  what it tried, in order; empty if nothing
--   accepted  flag  the engine carried out every action of the agent; null where there was nothing to carry out
--   error_code  text  rule that refused the first refused action; null if none was
--   outcome  text  what became of the candidates on this turn, as in outcomes
--   followed  flag  strict: what was tried on this turn is literally a candidate (followed_full of outcomes); null as there
--   progress_before  0..1  before the turn; null on the first turn, and if it cannot be computed
--   progress  0..1  after the turn; null if it cannot be computed
--   progress_gain  number  the difference; null where either is
--   cost  number  what the turn lost, in `cost_unit`, as in turn_costs; null where the game has no values
--   cost_unit  text  progress (0 to 1), steps, turns, points or probability; null with `cost`
--   lost  flag  success can no more be reached after the turn; null as in turn_costs
--   failures  list  categories that a rule gave the turn or the agent on it, as taxonomy.category
--   engine  map  rubric.question -> the engine's answer about the agent, or about the turn as a whole
--   judged  map  rubric.question -> mean score, 0 to 1, of all answers of model judges about the agent or the turn (repeats and judges together)
--   labelled  map  rubric.question -> mean score of people's labels likewise
--   tokens_in  tokens  prompt tokens of the agent's own requests on this turn; null if the log has no requests, or does not count their tokens
--   tokens_out  tokens  reply tokens likewise
--   cost_usd  USD  what these requests cost; null if that of one of them is not known
-- Reads: turns, utterances, actions, agents, games, team_names, outcomes, turn_costs, failures, verdicts_latest, labels, calls.
create or replace view scored_turns as

with said as (
    select
        episode_id,
        turn,
        agent,
        string_agg(text, chr(10) order by seq) filter (channel = 'public' and text <> '') as message,
        string_agg(text, chr(10) order by seq) filter (channel = 'private' and text <> '') as thought
    from utterances
    group by all
),

tried as (
    select
        episode_id,
        turn,
        agent,
        list(verb order by seq) as verbs,
        bool_and(accepted) as accepted,
        first(error_code order by seq) filter (error_code is not null) as error_code
    from actions
    group by all
),

present as (
    select coalesce(said.episode_id, tried.episode_id) as episode_id, coalesce(said.turn, tried.turn) as turn,
        coalesce(said.agent, tried.agent) as agent, message, thought, verbs, accepted, error_code
    from said
    full join tried on said.episode_id = tried.episode_id and said.turn = tried.turn and said.agent = tried.agent
),

asked as (
    select
        episode_id,
        turn,
        agent,
        case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
        case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
        case when count(cost) = count(*) then sum(cost) end as cost_usd
    from calls
    where purpose = 'player'
    group by all
),

engine_answers as (
    select episode_id, turn, agent, rubric || '.' || question as question, any_value(answer) as answer
    from verdicts_latest
    where status = 'answered' and judge = 'engine' and variant is null and turn is not null
    group by all
),

model_answers as (
    select episode_id, turn, agent, rubric || '.' || question as question, avg(score) as score
    from verdicts_latest
    where status = 'answered' and judge <> 'engine' and variant is null and turn is not null and score is not null
    group by all
),

people_answers as (
    select episode_id, turn, agent, rubric || '.' || question as question, avg(score) as score
    from labels
    where episode_id is not null and turn is not null and score is not null
        and not starts_with(source, 'planted') and not starts_with(annotator, 'llm:')
    group by all
),

engine_maps as (
    select episode_id, turn, agent, map_from_entries(list((question, answer) order by question)) as answers from engine_answers group by all
),

model_maps as (
    select episode_id, turn, agent, map_from_entries(list((question, score) order by question)) as answers from model_answers group by all
),

people_maps as (
    select episode_id, turn, agent, map_from_entries(list((question, score) order by question)) as answers from people_answers group by all
),

categories as (
    select episode_id, turn, agent, list(distinct taxonomy || '.' || category order by taxonomy || '.' || category) as names
    from failures
    group by all
),

went as (
    select
        episode_id,
        turn,
        progress,
        lag(progress) over (partition by episode_id order by turn) as progress_before
    from turns
)

select
    turns.episode_id,
    turns.turn,
    present.agent,
    agents.role,
    agents.model as agent_model,
    games.benchmark,
    games.condition,
    games.model,
    team_names.team_name,
    games.task_id,
    games.level,
    games.seed,
    games.turns_taken,
    games.ending,
    case when games.ending = 'ended' then games.success end as game_success,
    case when games.ending = 'ended' then games.score end as game_score,
    present.message,
    present.thought,
    coalesce(present.verbs, []) as verbs,
    present.accepted,
    present.error_code,
    outcomes.outcome,
    outcomes.followed_full as followed,
    went.progress_before,
    went.progress,
    went.progress - went.progress_before as progress_gain,
    turn_costs.cost,
    turn_costs.unit as cost_unit,
    turn_costs.lost,
    list_sort(list_distinct(coalesce(own_failures.names, []) || coalesce(team_failures.names, []))) as failures,
    map_concat(coalesce(engine_team.answers, map()), coalesce(engine_own.answers, map())) as engine,
    map_concat(coalesce(model_team.answers, map()), coalesce(model_own.answers, map())) as judged,
    map_concat(coalesce(people_team.answers, map()), coalesce(people_own.answers, map())) as labelled,
    asked.tokens_in,
    asked.tokens_out,
    asked.cost_usd
from turns
inner join games using (episode_id)
inner join team_names using (episode_id)
left join present on turns.episode_id = present.episode_id and turns.turn = present.turn
left join agents on present.episode_id = agents.episode_id and present.agent = agents.agent
left join outcomes on turns.episode_id = outcomes.episode_id and turns.turn = outcomes.turn
left join went on turns.episode_id = went.episode_id and turns.turn = went.turn
left join turn_costs on turns.episode_id = turn_costs.episode_id and turns.turn = turn_costs.turn
left join categories as own_failures
    on present.episode_id = own_failures.episode_id and present.turn = own_failures.turn and present.agent = own_failures.agent
left join categories as team_failures
    on turns.episode_id = team_failures.episode_id and turns.turn = team_failures.turn and team_failures.agent is null
left join engine_maps as engine_own
    on present.episode_id = engine_own.episode_id and present.turn = engine_own.turn and present.agent = engine_own.agent
left join engine_maps as engine_team
    on turns.episode_id = engine_team.episode_id and turns.turn = engine_team.turn and engine_team.agent is null
left join model_maps as model_own
    on present.episode_id = model_own.episode_id and present.turn = model_own.turn and present.agent = model_own.agent
left join model_maps as model_team
    on turns.episode_id = model_team.episode_id and turns.turn = model_team.turn and model_team.agent is null
left join people_maps as people_own
    on present.episode_id = people_own.episode_id and present.turn = people_own.turn and present.agent = people_own.agent
left join people_maps as people_team
    on turns.episode_id = people_team.episode_id and turns.turn = people_team.turn and people_team.agent is null
left join asked on present.episode_id = asked.episode_id and present.turn = asked.turn and present.agent = asked.agent;
