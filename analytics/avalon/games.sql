-- avalon_games: games of Avalon.
-- One row is a game. What is about the end is null where it is not known.
create or replace view avalon_games as
with played as (
    select
        episode_id,
        count(*) as missions,
        string_agg(result, '|' order by mission) as results,
        string_agg(fails::varchar, '|' order by mission) as fails,
        string_agg(team_evil::varchar, '|' order by mission) as team_evil,
        string_agg(rejected::varchar, '|' order by mission) as rejected_by_mission,
        count(*) filter (excess_fails > 0) as quests_with_excess_fails,
        coalesce(bool_or(mission = 4 and fails_needed_documented = 2 and fails = 1), false)::int as m4_one_fail,
        max_by(public_evil_worlds_after, mission) as public_evil_worlds_end,
        max_by(public_role_worlds_after, mission) as public_role_worlds_end
    from avalon_missions
    group by all
),

proposed as (
    select
        episode_id,
        count(*) as proposals,
        count(*) filter (result = 'rejected') as rejected,
        sum(auto)::bigint as auto_approved,
        sum(proven_mistake)::bigint as proven_mistake_proposals,
        count(*) filter (proven_mistake = 1 and leader_role = 'merlin') as proven_mistake_proposals_merlin,
        sum(merlin_sole_reject)::bigint as merlin_sole_rejects
    from avalon_proposals
    group by all
),

voted as (
    select
        episode_id,
        count(vote) filter (side = 'good') as good_votes,
        count(*) filter (side = 'good' and vote_right = 1) as good_votes_right,
        count(vote) filter (side = 'evil') as evil_votes,
        count(*) filter (side = 'evil' and vote_right = 1) as evil_votes_right,
        count(*) filter (side = 'good' and vote is not null and proven_bad = 1) as good_votes_on_proven_bad,
        sum(proven_mistake)::bigint as proven_mistake_votes,
        sum(proven_mistake_as_told)::bigint as proven_mistake_votes_as_told,
        count(*) filter (proven_mistake = 1 and role = 'merlin') as proven_mistake_votes_merlin,
        sum(clean_rejected)::bigint as clean_rejected_votes
    from avalon_votes
    group by all
),

players_of as (
    select
        episode_id,
        count(*) as players,
        string_agg(player, '|' order by position) filter (side = 'evil') as evil,
        max(player) filter (role = 'merlin') as merlin
    from avalon_players
    group by all
),

named as (
    select
        episode_id,
        done ->> 'assassin' as assassin,
        done ->> 'guess' as guess,
        done ->> 'role' as guess_role,
        case when done ->> 'guess' is not null then (done ->> 'right')::boolean::int end as guess_right
    from avalon_turns
    where stage = 'assassination'
)

select
    episodes.benchmark, run_conditions.condition, episodes.model, episodes.level, episodes.episode_id, episodes.run_id,
    regexp_replace(episodes.file, '\.jsonl?$', '') as game,
    episodes.task_id as game_id,
    runs.name as run,
    players_of.players,
    runs.condition ->> 'reasoning' as reasoning,
    (runs.condition ->> 'memory')::boolean::int as memory,
    case when episodes.success then 'good' when not episodes.success then 'evil' end as winner,
    episodes.stop_reason as won_by,
    coalesce(played.missions, 0) as missions,
    played.results, played.fails, played.team_evil,
    coalesce(proposed.proposals, 0) as proposals,
    coalesce(proposed.rejected, 0) as rejected,
    played.rejected_by_mission,
    coalesce(proposed.auto_approved, 0) as auto_approved,
    players_of.evil, players_of.merlin, named.assassin, named.guess, named.guess_role, named.guess_right, played.m4_one_fail,
    played.quests_with_excess_fails, voted.good_votes, voted.good_votes_right, voted.evil_votes, voted.evil_votes_right,
    voted.good_votes_on_proven_bad, voted.proven_mistake_votes, voted.proven_mistake_votes_as_told, voted.proven_mistake_votes_merlin,
    proposed.proven_mistake_proposals, proposed.proven_mistake_proposals_merlin, voted.clean_rejected_votes, proposed.merlin_sole_rejects,
    played.public_evil_worlds_end, played.public_role_worlds_end
from episodes
inner join runs on episodes.run_id = runs.run_id
inner join run_conditions on episodes.run_id = run_conditions.run_id
inner join players_of on episodes.episode_id = players_of.episode_id
left join played on episodes.episode_id = played.episode_id
left join proposed on episodes.episode_id = proposed.episode_id
left join voted on episodes.episode_id = voted.episode_id
left join named on episodes.episode_id = named.episode_id
where episodes.benchmark = 'avalon';
