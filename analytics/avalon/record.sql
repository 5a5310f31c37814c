-- avalon_turns: the stages of Avalon games.
-- One row is a turn.
create or replace view avalon_turns as
with staged as (
    select
        turns.*,
        regexp_replace(episodes.file, '\.jsonl?$', '') as game,
        turns.state_before ->> 'stage' as stage
    from turns
    inner join episodes on turns.episode_id = episodes.episode_id and episodes.benchmark = 'avalon'
)

select
    episode_id, turn, game, stage,
    (state_before ->> 'mission')::int as mission,
    (state_before ->> 'proposal')::int as proposal,
    case stage
        when 'proposal' then state_after -> '$.on_table' when 'quest' then state_after -> '$.missions[#-1]'
        when 'assassination' then state_after -> '$.guess'
    end as done,
    state_before -> 'public' as public,
    state_after -> 'public' as public_after,
    state_after -> 'knowledge' as knowledge_after
from staged;

-- avalon_players: the players of Avalon games.
-- One row is a player of a game.
create or replace view avalon_players as
with players_of as (
    select
        episodes.episode_id,
        unnest(json_keys(episodes.goal, '$.roles')) as player,
        unnest(range(len(json_keys(episodes.goal, '$.roles')))) as position
    from episodes
    where episodes.benchmark = 'avalon'
)

select
    players_of.episode_id, players_of.player, players_of.position,
    nullif(agents.role, 'player') as role,
    agents.private_view ->> 'side' as side,
    agents.model
from players_of
inner join agents on players_of.episode_id = agents.episode_id and players_of.player = agents.agent;

-- avalon_votes: votes on teams of Avalon, against what the voter could prove.
-- One row is a vote; the fifth proposal of a mission has none.
create or replace view avalon_votes as
with cast_votes as (
    select
        stages.episode_id, stages.turn, stages.game, stages.mission, stages.proposal, players.player, players.position, players.role, players.side,
        cast(stages.done -> 'votes' as map(varchar, varchar))[players.player] as vote,
        (stages.done ->> 'team_evil')::int > 0 as has_evil,
        cast(stages.done -> 'verdicts' as map(varchar, json))[players.player] as verdict
    from avalon_turns as stages
    inner join avalon_players as players on stages.episode_id = players.episode_id
    where stages.stage = 'proposal' and list_contains(json_keys(stages.done, '$.votes'), players.player)
),

judged as (
    select
        *,
        (verdict ->> 'worlds')::bigint as evil_worlds,
        (verdict ->> 'roles')::bigint as role_worlds,
        (verdict ->> 'bad_worlds')::bigint as evil_worlds_bad,
        (verdict ->> 'bad')::boolean as bad,
        (verdict ->> 'clean')::boolean as clean,
        (verdict ->> 'open_teams')::int > 0 as is_open,
        (verdict ->> 'bad_as_informed')::boolean as bad_as_informed,
        (verdict ->> 'bad_documented')::boolean as bad_documented
    from cast_votes
)

select
    episode_id, turn, game, mission, proposal, player, vote, role, side,
    has_evil::int as team_has_evil,
    ((vote = 'approve') = ((side = 'evil') = has_evil))::int as vote_right,
    evil_worlds, role_worlds, evil_worlds_bad,
    bad::int as proven_bad,
    verdict ->> 'basis' as basis,
    clean::int as proven_clean,
    (side = 'good' and vote = 'approve' and bad and is_open)::int as proven_mistake,
    (side = 'good' and vote = 'approve' and bad_as_informed and is_open)::int as proven_mistake_as_told,
    (side = 'good' and vote = 'approve' and bad_documented and is_open)::int as proven_mistake_documented,
    (side = 'good' and vote = 'reject' and clean)::int as clean_rejected
from judged
order by game, turn, position;

-- avalon_proposals: teams that leaders proposed, against what leader and public could prove.
-- One row is a proposal.
create or replace view avalon_proposals as
with placed as (
    select
        stages.*,
        players.player as leader, players.role as leader_role, players.side,
        (stages.done -> 'team')::varchar[] as team,
        stages.done -> 'public' as everybody,
        cast(stages.done -> 'verdicts' as map(varchar, json))[players.player] as verdict,
        (stages.done ->> 'approve')::int as approve,
        (stages.done ->> 'reject')::int as reject,
        replaced.turn is not null as substituted
    from avalon_turns as stages
    inner join avalon_players as players on stages.episode_id = players.episode_id and stages.done ->> 'leader' = players.player
    left join (select distinct episode_id, turn from actions where verb = 'propose' and not accepted) as replaced
        on stages.episode_id = replaced.episode_id and stages.turn = replaced.turn
    where stages.stage = 'proposal'
),

judged as (
    select
        *,
        (verdict ->> 'open_teams')::int as open_teams,
        not substituted and side = 'good' and (verdict ->> 'open_teams')::int > 0 as could_do_better
    from placed
)

select
    episode_id, turn, game, mission, proposal, leader, leader_role, side,
    array_to_string(team, '|') as team,
    (done ->> 'team_evil')::int as team_evil,
    list_contains(team, leader)::int as leader_in_team,
    substituted::int as substituted,
    approve, reject,
    (done ->> 'auto')::boolean::int as auto,
    done ->> 'result' as result,
    (everybody ->> 'worlds')::bigint as public_evil_worlds,
    (everybody ->> 'bad_worlds')::bigint as public_evil_worlds_bad,
    (everybody ->> 'bad')::boolean::int as public_proven_bad,
    (verdict ->> 'worlds')::bigint as leader_evil_worlds,
    (verdict ->> 'bad_worlds')::bigint as leader_evil_worlds_bad,
    (verdict ->> 'bad')::boolean::int as leader_proven_bad,
    verdict ->> 'basis' as basis,
    (verdict ->> 'clean')::boolean::int as leader_proven_clean,
    open_teams as teams_not_proven_bad,
    (could_do_better and (verdict ->> 'bad')::boolean)::int as proven_mistake,
    (could_do_better and (verdict ->> 'bad_as_informed')::boolean)::int as proven_mistake_as_told,
    (could_do_better and (verdict ->> 'bad_documented')::boolean)::int as proven_mistake_documented,
    (done ->> 'sole_reject')::boolean::int as merlin_sole_reject
from judged
order by game, turn;

-- avalon_missions: finished missions of Avalon, and what everybody could prove before and after.
-- One row is a mission with a result.
create or replace view avalon_missions as
with players_of as (
    select episode_id, count(*) as players, list(player) filter (side = 'evil') as evil, bool_and(side is not null) as known
    from avalon_players
    group by all
),

quests as (
    select stages.*, (done -> 'team')::varchar[] as team, players_of.players, players_of.evil, players_of.known
    from avalon_turns as stages
    inner join players_of using (episode_id)
    where stages.stage = 'quest'
)

select
    episode_id, turn, game, mission,
    len(team) as team_size,
    case when mission = 4 and players >= 7 then 2 else 1 end as fails_needed_documented,
    done ->> 'leader' as leader,
    array_to_string(team, '|') as team,
    case when known then len(list_intersect(team, coalesce(evil, []))) end as team_evil,
    (done ->> 'fails')::int as fails,
    done ->> 'result' as result,
    greatest((done ->> 'fails')::int - 1, 0) as excess_fails,
    (done ->> 'rejected')::int as rejected,
    (done ->> 'auto')::boolean::int as auto,
    (public ->> 'evil_worlds')::bigint as public_evil_worlds_before,
    (public ->> 'role_worlds')::bigint as public_role_worlds_before,
    (public_after ->> 'evil_worlds')::bigint as public_evil_worlds_after,
    (public_after ->> 'role_worlds')::bigint as public_role_worlds_after,
    array_to_string((public_after -> 'good')::varchar[], '|') as public_certain_good,
    array_to_string((public_after -> 'evil')::varchar[], '|') as public_certain_evil
from quests
order by game, turn;

-- avalon_knowledge: what each player of Avalon could prove.
-- One row is a player after a mission, or before the first.
create or replace view avalon_knowledge as
with known as (
    select episode_id, game, 0 as after_mission, knowledge_after as knowledge
    from avalon_turns
    where turn = 1 and stage <> 'quest'
    union all by name
    select episode_id, game, mission as after_mission, knowledge_after as knowledge
    from avalon_turns
    where stage = 'quest'
),

each as (
    select known.*, players.player, players.position, players.role, players.side, cast(known.knowledge as map(varchar, json))[players.player] as known
    from known
    inner join avalon_players as players using (episode_id)
)

select
    episode_id, game, after_mission, player, role, side,
    (known ->> 'evil_worlds')::bigint as evil_worlds,
    (known ->> 'role_worlds')::bigint as role_worlds,
    (known ->> 'own_card')::bigint as evil_worlds_own_card,
    array_to_string((known -> 'good')::varchar[], '|') as certain_good,
    array_to_string((known -> 'evil')::varchar[], '|') as certain_evil
from each
order by game, after_mission, position;
