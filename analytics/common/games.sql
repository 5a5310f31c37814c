-- turn_outcomes: what became of the oracle's candidates on each turn, as the log states it; `outcomes` adds the columns of the game.
-- One row is a turn, of any benchmark.
-- Materialized: by game
create or replace view turn_outcomes as
with acted as (
    select
        episode_id, turn,
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
        episode_id, turn,
        split_part(metric, '.', 2) as reading,
        value = 1 as followed
    from unmaterialized('turn_metrics') as turn_metrics
    where metric like '%.followed_%'
),

adherence as (
    select
        episode_id, turn,
        bool_or(followed) filter (reading = 'followed_full') as followed_full,
        bool_or(followed) filter (reading = 'followed_physical') as followed_physical,
        bool_or(followed) filter (reading = 'followed_action_position_layer') as followed_action_position_layer
    from readings
    group by all
)

select
    turns.episode_id, turns.turn, case
        when not coalesce(acted.has_move, false) then case when acted.asks then 'clarify' else 'no_move' end
        when coalesce(adherence.followed_full, turns.oracle_followed) then 'followed'
        when turns.oracle_available then 'not_followed'
        else 'no_oracle'
    end as outcome,
    adherence.followed_full, adherence.followed_physical, adherence.followed_action_position_layer, acted.accepted,
    acted.undoes, turns.progress
from unmaterialized('turns') as turns
left join acted using (episode_id, turn)
left join adherence using (episode_id, turn);

-- turn_steps: what became of each turn in one word, and what it gained.
-- One row is a turn, of any benchmark.
-- Read by game:
create or replace view turn_steps as
with starts as (
    select episode_id, max(value) as progress
    from unmaterialized('turn_metrics') as turn_metrics
    where turn = 0 and metric like '%.overall_progress'
    group by all
)

select
    outcomes.episode_id, outcomes.turn, case
        when not outcomes.accepted then 'refused'
        when outcomes.outcome <> 'no_oracle' then outcomes.outcome
        when outcomes.accepted then 'accepted'
        else 'no_move'
    end as step,
    outcomes.outcome, outcomes.accepted, outcomes.undoes, outcomes.progress,
    outcomes.progress - lag(outcomes.progress, 1, starts.progress) over (
        partition by outcomes.episode_id, starts.progress
        order by outcomes.turn
    ) as gain
from unmaterialized('turn_outcomes') as outcomes
left join starts using (episode_id);

-- turn_pairs: the turns of each game, counted by step and next step.
-- One row is (episode_id, after, rose, next, rises, late).
-- Materialized: by game
create or replace view turn_pairs as
with placed as (
    select
        episode_id, step, gain,
        3 * row_number() over game > 2 * count(*) over (partition by episode_id) as late,
        lead(step) over game as next,
        lead(gain) over game as next_gain,
        lead(turn) over game = turn + 1 as adjacent
    from unmaterialized('turn_steps')
    window game as (partition by episode_id order by turn)
)

select
    episode_id,
    step as after,
    gain > 1e-9 as rose,
    case when adjacent then next end as next,
    case when adjacent then next_gain > 1e-9 end as rises,
    late,
    count(*) as turns
from placed
group by all;

-- repeated_episodes: episodes that repeat another episode of the store: no count, rate or mean includes them.
-- One row is an episode that does not count.
-- Samples of Inspect with one uuid are one episode, whichever logs hold them: an `.eval` and its `.json`, a log and its retry.
create or replace view repeated_episodes as
select episode_id
from every_family('repeated_episodes') as repeated
union all
select episode_id
from episodes
where benchmark = 'inspect' and (details ->> 'sample_uuid') is not null
qualify row_number() over (partition by details ->> 'sample_uuid' order by episode_id) > 1;

-- games: each game with its condition: what reports and pages filter on.
-- One row is a game, of any benchmark; a game that several logs hold is listed once (repeated_episodes).
create or replace view games as
select
    episodes.episode_id, episodes.benchmark, run_conditions.condition, episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.team, episodes.task_id, episodes.level, episodes.seed, episodes.turns_taken, case
        when episodes.score is not null or episodes.success is not null then 'ended'
        when episodes.turns_taken = 0 and (episodes.error is not null or episodes.goal is null) then 'not_set_up'
        else 'cut'
    end as ending,
    episodes.score, episodes.success, episodes.stop_reason, episodes.error, episodes.file
from episodes
anti join repeated_episodes using (episode_id)
inner join run_conditions using (run_id);

-- outcomes: what became of the oracle's candidates on each turn.
-- One row is a turn, of any benchmark.
-- Report: outcomes, ordered by model, condition, task_id, episode_id, turn
-- Shows: benchmark, model, task_id, turn, outcome, accepted, progress
create or replace view outcomes as
select
    turn_outcomes.episode_id, turn_outcomes.turn, episodes.benchmark, run_conditions.condition, episodes.model,
    episodes.team, episodes.task_id, episodes.level,
    turn_outcomes.* exclude (episode_id, turn)
from turn_outcomes
inner join episodes using (episode_id)
inner join run_conditions using (run_id);

-- turn_notes: what people wrote about turns, on the page of a game.
-- One row is a note.
-- Report: notes, ordered by written_at, note_id
-- Shows: author, written_at, model, task_id, turn, note
create or replace view turn_notes as
select
    notes.note_id, notes.episode_id, notes.turn, games.benchmark, games.condition, games.model, games.level,
    games.task_id, notes.author,
    notes.text as note,
    notes.written_at
from notes
left join games using (episode_id);

-- scored_turns: everything about a turn and an agent in one row: who, how the game ended, the message and the attempt, the result, its
-- cost, and what judges and people answered. Most questions need no other view.
-- One row is (episode_id, turn, agent); a turn on which no agent spoke or acted has one row without an agent. What describes the whole turn
-- (outcome, progress, cost, answers about a group) is in each row of the turn: count turns with count(distinct episode_id || '/' || turn).
create or replace view scored_turns as
with messages as (
    select
        episode_id, turn, agent,
        string_agg(text, chr(10) order by seq) filter (channel = 'public' and text <> '') as message,
        string_agg(text, chr(10) order by seq) filter (channel = 'private' and text <> '') as thought
    from utterances
    group by all
),

tried as (
    select
        episode_id, turn, agent,
        list(verb order by seq) as verbs,
        bool_and(accepted) as accepted,
        first(error_code order by seq) filter (error_code is not null) as error_code
    from actions
    group by all
),

present as (
    select coalesce(messages.episode_id, tried.episode_id) as episode_id, coalesce(messages.turn, tried.turn) as turn,
        coalesce(messages.agent, tried.agent) as agent, message, thought, verbs, accepted, error_code
    from messages
    full join tried on messages.episode_id = tried.episode_id and messages.turn = tried.turn and messages.agent = tried.agent
),

asked as (
    select
        episode_id, turn, agent,
        case when count(tokens_in) = count(*) then sum(tokens_in)::bigint end as tokens_in,
        case when count(tokens_out) = count(*) then sum(tokens_out)::bigint end as tokens_out,
        case when count(cost) = count(*) then sum(cost) end as cost_usd
    from calls
    where purpose = 'player'
    group by all
),

given as (
    select
        episode_id, turn, agent, rubric || '.' || question as question,
        case judge when 'engine' then 'engine' else 'model' end as source,
        any_value(answer) as answer, avg(score) as score
    from verdicts_latest
    where status = 'answered' and variant is null and turn is not null and (judge = 'engine' or score is not null)
    group by all
    union all
    select episode_id, turn, agent, rubric || '.' || question as question, 'people' as source, null as answer, avg(score) as score
    from labels
    where episode_id is not null and turn is not null and score is not null
        and not starts_with(source, 'planted') and not starts_with(annotator, 'llm:')
    group by all
),

answers as (
    select
        episode_id, turn, agent,
        map_from_entries(list((question, answer) order by question) filter (source = 'engine')) as engine,
        map_from_entries(list((question, score) order by question) filter (source = 'model')) as judged,
        map_from_entries(list((question, score) order by question) filter (source = 'people')) as labelled
    from given
    group by all
),

categories as (
    select episode_id, turn, agent, list(distinct taxonomy || '.' || category order by taxonomy || '.' || category) as names
    from failures
    group by all
),

went as (
    select
        episode_id, turn, progress,
        lag(progress) over (partition by episode_id order by turn) as progress_before
    from turns
)

select
    turns.episode_id, turns.turn, present.agent, agents.role,
    agents.model as agent_model,
    games.benchmark, games.condition, games.model, team_names.team_name, games.task_id, games.level, games.seed,
    games.turns_taken, games.ending,
    case when games.ending = 'ended' then games.success end as game_success,
    case when games.ending = 'ended' then games.score end as game_score,
    present.message, present.thought,
    coalesce(present.verbs, []) as verbs,
    present.accepted, present.error_code, outcomes.outcome,
    outcomes.followed_full as followed,
    went.progress_before, went.progress,
    went.progress - went.progress_before as progress_gain,
    turn_costs.cost,
    turn_costs.unit as cost_unit,
    turn_costs.lost,
    list_sort(list_distinct(coalesce(own_failures.names, []) || coalesce(team_failures.names, []))) as failures,
    map_concat(coalesce(of_team.engine, map()), coalesce(own.engine, map())) as engine,
    map_concat(coalesce(of_team.judged, map()), coalesce(own.judged, map())) as judged,
    map_concat(coalesce(of_team.labelled, map()), coalesce(own.labelled, map())) as labelled,
    asked.tokens_in, asked.tokens_out, asked.cost_usd
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
left join answers as own on present.episode_id = own.episode_id and present.turn = own.turn and present.agent = own.agent
left join answers as of_team on turns.episode_id = of_team.episode_id and turns.turn = of_team.turn and of_team.agent is null
left join asked on present.episode_id = asked.episode_id and present.turn = asked.turn and present.agent = asked.agent;
