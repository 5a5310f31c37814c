-- dialogue_messages: the messages of games whose logs have no states, but for those of tools and system prompts.
-- One row is a public message that has words, of an agent.
-- Read by game:
create or replace view dialogue_messages as
with without_states as (
    select episode_id
    from unmaterialized('turns') as turns
    group by episode_id
    having count(state_before) + count(state_after) = 0
),

texts as (
    select
        sent.episode_id, sent.turn, sent.seq, sent.agent, sent.text,
        trim(regexp_replace(lower(sent.text), '[^\p{L}\p{N}]+', ' ', 'g')) as plain
    from unmaterialized('utterances') as sent
    inner join without_states using (episode_id)
    left join unmaterialized('agents') as agents on sent.episode_id = agents.episode_id and sent.agent = agents.agent
    where sent.channel = 'public' and coalesce(agents.role, sent.agent) not in ('tool', 'system') and sent.agent not in ('tool', 'system')
)

select
    episode_id, turn, seq, agent, text, plain,
    list_distinct(string_split(plain, ' ')) as words,
    row_number() over (partition by episode_id, agent order by turn, seq) as place,
    lead(agent) over (partition by episode_id order by turn, seq) as next_agent
from texts
where plain <> '';

-- dialogue_games: the games without states in whose messages and calls repetitions and open questions can be seen.
-- One row is a game in which an agent speaks or calls a tool more than once; for other games this is unknown, which is not the same as none.
-- Materialized: by game
create or replace view dialogue_games as
select distinct episode_id
from unmaterialized('dialogue_messages') as dialogue_messages
where place > 1
union
select actions.episode_id
from unmaterialized('actions') as actions
inner join unmaterialized('turns') as turns using (episode_id, turn)
group by actions.episode_id, actions.agent
having count(turns.state_before) + count(turns.state_after) = 0 and count(*) > 1;

-- dialogue_failures: what went wrong in games without states, as far as the words and calls show it by themselves.
-- One row is (episode_id, turn, agent, category).
-- Materialized: by game
create or replace view dialogue_failures as
with repeats as (
    select
        later.episode_id, later.turn, later.agent,
        if(later.plain = earlier.plain, 'repeated_message', 'similar_message') as category,
        max(earlier.turn) as since,
        min(later.text) as text
    from unmaterialized('dialogue_messages') as later
    inner join unmaterialized('dialogue_messages') as earlier
        on
            later.episode_id = earlier.episode_id
            and later.agent = earlier.agent
            and earlier.place between later.place - 3 and later.place - 1
    where
        (later.plain = earlier.plain and len(later.words) > 1)
        or (
            later.plain <> earlier.plain
            and least(len(later.words), len(earlier.words)) >= 6
            and len(list_intersect(later.words, earlier.words))
            >= 0.9 * (len(later.words) + len(earlier.words) - len(list_intersect(later.words, earlier.words)))
        )
    group by all
),

calls as (
    select
        actions.episode_id, actions.turn, actions.agent, actions.verb || ' ' || actions.arguments as call,
        lag(actions.verb || ' ' || actions.arguments) over agents_calls as call_before,
        lag(actions.turn) over agents_calls as since
    from unmaterialized('actions') as actions
    inner join unmaterialized('dialogue_games') as dialogue_games using (episode_id)
    window agents_calls as (partition by actions.episode_id, actions.agent order by actions.turn, actions.seq)
)

select
    episode_id, turn, agent, category, since,
    'as on turn ' || since || ': ' || left(text, 80) as evidence
from repeats
qualify category = 'repeated_message' or count(*) filter (category = 'repeated_message') over (partition by episode_id, turn, agent) = 0
union all
select episode_id, turn, agent, 'repeated_call' as category, min(since) as since, 'as on turn ' || min(since) || ': ' || left(min(call), 80)
from calls
where call = call_before
group by episode_id, turn, agent
union all
select episode_id, turn, agent, 'unanswered_question' as category, turn as since, right(min(text), 80)
from unmaterialized('dialogue_messages') as dialogue_messages
inner join unmaterialized('dialogue_games') as dialogue_games using (episode_id)
where regexp_matches(text, '\?[\s"''*)\]]*$') and (next_agent is null or next_agent = agent)
group by episode_id, turn, agent;

-- dialogue_spirals: stretches in which an agent repeats itself, in games without states.
-- One row is a maximal stretch of one kind of one agent in one game.
-- Materialized: by game
create or replace view dialogue_spirals as
with repeats as (
    select
        episode_id, turn, agent, since, evidence,
        if(category = 'repeated_call', category, 'repeated_message') as kind,
        max(turn) over (
            partition by episode_id, agent, if(category = 'repeated_call', category, 'repeated_message')
            order by turn rows between unbounded preceding and 1 preceding
        ) as last_turn
    from unmaterialized('dialogue_failures') as dialogue_failures
    where category <> 'unanswered_question'
),

numbered as (
    select *, sum((last_turn is null or since > last_turn)::int) over (partition by episode_id, agent, kind order by turn) as stretch
    from repeats
)

select
    episode_id, agent, kind,
    min(since) as start_turn,
    max(turn) as end_turn,
    count(distinct turn) as turns_wasted,
    agent || ' on turns ' || array_to_string(list_sort(list(distinct turn)), ', ') || ' ' || min(evidence) as evidence
from numbered
group by episode_id, agent, kind, stretch;

-- contradictions_read: messages of games without states for which it is known whether they contradict an earlier statement of their author.
-- One row is (episode_id, turn, agent) with answers yes or no to a question `contradicts_itself`, of whatever rubric. People's labels count
-- before judges, then the majority; a message whose answers are split is left out. For other messages this is unknown, which is not a no.
-- Materialized: by judged game
create or replace view contradictions_read as
with answers as (
    select unit_key, episode_id, turn, agent, 'labels' as basis, lower(answer) as answer, null as reason
    from unmaterialized('labels') as labels
    where question = 'contradicts_itself' and not starts_with(annotator, 'llm:')
    union all
    select unit_id as unit_key, episode_id, turn, agent, 'judges' as basis, lower(answer) as answer, reason
    from unmaterialized('verdicts_latest') as verdicts_latest
    where question = 'contradicts_itself' and variant is null
),

-- a turn can have several messages of an agent, each a unit of its own
units as (
    select
        episode_id, turn, agent, basis,
        count(*) as raters,
        count(*) filter (answer = 'yes') * 2 > count(*) as contradicts,
        min(reason) filter (answer = 'yes') as evidence
    from answers
    where answer in ('yes', 'no') and turn is not null and agent is not null
    group by episode_id, turn, agent, basis, unit_key
    having count(*) filter (answer = 'yes') * 2 <> count(*)
),

messages as (
    select
        episode_id, turn, agent, basis,
        sum(raters)::bigint as raters,
        bool_or(contradicts) as contradicts,
        min(evidence) filter (contradicts) as evidence
    from units
    where (episode_id, turn, agent) in (select (episode_id, turn, agent) from unmaterialized('dialogue_messages') as sent)
    group by episode_id, turn, agent, basis
    qualify row_number() over (partition by episode_id, turn, agent order by basis desc) = 1
)

select *, row_number() over (partition by episode_id, agent order by turn) as place
from messages;

-- contradiction_spirals: stretches in which an agent contradicts itself again and again, in games without states.
-- One row is a maximal stretch of messages of one agent in one game, in which two contradictions lie at most three known messages apart.
-- These are no part of correction_spirals, since they can be seen in games with labels or verdicts alone.
create or replace view contradiction_spirals as
with marked as (
    select episode_id, agent, turn, coalesce(place - lag(place) over of_agent > 3, true) as opens
    from contradictions_read
    where contradicts
    window of_agent as (partition by episode_id, agent order by turn)
),

numbered as (
    select *, sum(opens::int) over (partition by episode_id, agent order by turn) as stretch
    from marked
)

select episode_id, agent, min(turn) as start_turn, max(turn) as end_turn, count(*) as turns_wasted
from numbered
group by episode_id, agent, stretch
having count(*) > 1;

-- contradictions: how often agents contradict their own earlier statements, by labels or judges, in games without states.
-- One row is (benchmark, condition, model, basis). Games without such labels or verdicts are counted as unknown and are in no other number.
-- Report: contradictions, ordered by benchmark, model, condition, basis
-- Shows: benchmark, model, basis, messages, contradictions, share, games, games_unknown
create or replace view contradictions as
with by_game as (
    select episode_id, basis, count(*) as messages, count(*) filter (contradicts) as contradictions
    from contradictions_read
    group by all
),

unknown as (
    select games.benchmark, games.condition, games.model, count(*) as games_unknown
    from (select distinct episode_id from dialogue_messages) as talks
    inner join games using (episode_id)
    where talks.episode_id not in (select episode_id from by_game)
    group by all
),

groups as (
    select
        games.benchmark, games.condition, games.model, by_game.basis,
        sum(by_game.messages)::bigint as messages,
        sum(by_game.contradictions)::bigint as contradictions,
        sum(by_game.contradictions) / sum(by_game.messages) as share,
        cluster_low(by_game.contradictions, by_game.messages) as share_low,
        cluster_high(by_game.contradictions, by_game.messages) as share_high,
        count(*) as games,
        count(*) filter (by_game.episode_id in (select episode_id from contradiction_spirals)) as games_with_spirals
    from by_game
    inner join games using (episode_id)
    group by all
)

select
    coalesce(groups.benchmark, unknown.benchmark) as benchmark,
    coalesce(groups.condition, unknown.condition) as condition,
    coalesce(groups.model, unknown.model) as model,
    basis,
    coalesce(messages, 0) as messages,
    contradictions, share, share_low, share_high,
    coalesce(games, 0) as games,
    games_with_spirals,
    coalesce(games_unknown, 0) as games_unknown
from groups
full join unknown
    on groups.benchmark = unknown.benchmark
    and groups.condition is not distinct from unknown.condition
    and groups.model is not distinct from unknown.model;
