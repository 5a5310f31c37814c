-- avalon_win_rates_by: how often good wins Avalon, and how often the assassin names Merlin, by number of players, reasoning effort and memory.
-- One row is a value of one of these. Intervals are over games; games of one session are not independent.
-- Parameters: episodes_counted: list of the episodes that count, null for all.
create or replace macro avalon_win_rates_by(episodes_counted := null) as table
with known as (
    select
        avalon_games.*,
        coalesce(reasoning, 'not known') as effort,
        case memory when 1 then 'memory' when 0 then 'no memory' else 'not known' end as remembers,
        players - len(string_split(evil, '|')) as good
    from avalon_games
    where episodes_counted is null or list_contains(episodes_counted, avalon_games.episode_id)
),

grouped as (
    select known.*, unnest([
        {'split': 'all', 'value': 'all'}, {'split': 'players', 'value': lpad(players::varchar, 2, ' ')}, {'split': 'reasoning', 'value': effort},
        {'split': 'memory', 'value': remembers}, {'split': 'players and memory', 'value': lpad(players::varchar, 2, ' ') || ', ' || remembers}
    ], recursive := true)
    from known
),

counted as (
    select
        model, split, value,
        count(winner) as games,
        count(*) - count(winner) as games_cut,
        count(*) filter (winner = 'good') as good_wins,
        sum(missions) filter (winner is not null)::bigint as missions,
        sum(len(list_filter(string_split(results, '|'), lambda result : result = 'success'))) filter (winner is not null)::bigint as missions_succeeded,
        count(guess_right) as guesses,
        sum(guess_right)::bigint as guesses_right,
        avg(1 / good) filter (guess_right is not null) as guess_chance
    from grouped
    group by all
)

select
    model, split, value, games, games_cut, good_wins,
    good_wins / nullif(games, 0) as good_win_rate,
    wilson_low(good_wins, games) as low,
    wilson_high(good_wins, games) as high,
    missions, missions_succeeded, guesses, guesses_right,
    guesses_right / nullif(guesses, 0) as guess_rate,
    wilson_low(guesses_right, guesses) as guess_low,
    wilson_high(guesses_right, guesses) as guess_high,
    guess_chance
from counted;

-- avalon_win_rates: how often good wins Avalon, and how often the assassin names Merlin, by number of players, reasoning effort and memory.
-- One row is a value of one of these. Intervals are over games; games of one session are not independent.
-- Columns as in: avalon_win_rates_by.
-- Report: avalon-wins, ordered by model, split, value
-- Listed: Avalon: how often good wins and the assassin names Merlin
-- Shows: split, value, games, good_wins, good_win_rate, low, high, guesses, guesses_right, guess_chance
create or replace view avalon_win_rates as
select * from avalon_win_rates_by();

-- avalon_trust_by: whom leaders of Avalon put on their teams, mission by mission; the leader itself is left out.
-- One row is a mission number and a side of leaders.
-- Parameters: episodes_counted: list of the episodes that count, null for all.
create or replace macro avalon_trust_by(episodes_counted := null) as table
with placed as (
    select
        proposals.*, played.model, played.players,
        len(string_split(played.evil, '|')) as evil,
        len(list_filter(string_split(proposals.team, '|'), lambda name : name <> proposals.leader)) as others,
        proposals.team_evil - (proposals.side = 'evil' and proposals.leader_in_team = 1)::int as others_evil
    from avalon_proposals as proposals
    inner join avalon_games as played using (episode_id)
    where proposals.side is not null
        and proposals.team_evil is not null
        and proposals.substituted = 0
        and (episodes_counted is null or list_contains(episodes_counted, proposals.episode_id))
),

counted as (
    select
        model, mission, side, episode_id,
        count(*) as proposals,
        count(*) filter (team_evil = 0) as clean,
        sum(others)::bigint as chosen,
        sum(others_evil)::bigint as chosen_evil,
        sum((evil - (side = 'evil')::int) / (players - 1)) as evil_chances
    from placed
    group by all
)

select
    model, mission, side,
    sum(columns('^(proposals|clean|chosen|chosen_evil)$'))::bigint,
    sum(chosen_evil) / nullif(sum(chosen), 0) as evil_rate,
    cluster_low(chosen_evil, chosen) as low,
    cluster_high(chosen_evil, chosen) as high,
    sum(evil_chances) / sum(proposals) as evil_chance
from counted
group by model, mission, side;

-- avalon_trust: whom leaders of Avalon put on their teams, mission by mission; the leader itself is left out.
-- One row is a mission number and a side of leaders.
-- Columns as in: avalon_trust_by.
-- Report: avalon-trust, ordered by model, side, mission
-- Listed: Avalon: whom leaders choose, mission by mission
create or replace view avalon_trust as
select * from avalon_trust_by();

-- avalon_suspicion_by: votes of Avalon against the truth, mission by mission and role by role.
-- One row is a role and a mission number.
-- Parameters: episodes_counted: list of the episodes that count, null for all.
create or replace macro avalon_suspicion_by(episodes_counted := null) as table
with counted as (
    select
        played.model, votes.role, votes.side, votes.mission, votes.episode_id,
        count(*) as votes,
        sum(votes.vote_right)::bigint as right_votes,
        count(*) filter (votes.team_has_evil = 1 and votes.vote = 'approve') as approved_bad,
        count(*) filter (votes.team_has_evil = 1) as on_bad,
        count(*) filter (votes.team_has_evil = 0 and votes.vote = 'approve') as approved_clean,
        count(*) filter (votes.team_has_evil = 0) as on_clean
    from avalon_votes as votes
    inner join avalon_games as played using (episode_id)
    where votes.vote_right is not null and (episodes_counted is null or list_contains(episodes_counted, votes.episode_id))
    group by all
)

select
    model, role, side, mission,
    sum(columns('^(right_)?votes$'))::bigint,
    sum(right_votes) / sum(votes) as right_rate,
    cluster_low(right_votes, votes) as low,
    cluster_high(right_votes, votes) as high,
    sum(columns('^(approved|on)_(bad|clean)$'))::bigint
from counted
group by model, role, side, mission;

-- avalon_suspicion: votes of Avalon against the truth, mission by mission and role by role.
-- One row is a role and a mission number.
-- Columns as in: avalon_suspicion_by.
-- Report: avalon-suspicion, ordered by model, side, role, mission
-- Listed: Avalon: votes against the truth
create or replace view avalon_suspicion as
select * from avalon_suspicion_by();

-- avalon_accusations: accusations in messages of Avalon against the truth, as judges and people read them.
-- What a message claims about others has to be read, so all rests on answers to `accusation_right` (rubric avalon_minds): does a message call
-- other players evil, and are all of them? A message that no one read, or that was left undecided, is unknown: it does not count as one without an accusation.
-- One row is a role, by a judge; messages of games that no judge was asked about are in one row without a judge.
-- Report: avalon-accusations, ordered by model, judge, side, role
-- Listed: Avalon: accusations against the truth; needs verdicts or labels
create or replace view avalon_accusations as
with given as (
    select
        episode_id, turn, agent, judge, unit_id,
        case when status = 'answered' then lower(answer) end as answer, score
    from verdicts_latest
    where variant is null and agent is not null and rubric = 'avalon_minds' and question = 'accusation_right'
    union all
    select episode_id, turn, agent, 'label: ' || annotator as judge, unit_key as unit_id, lower(answer) as answer, score
    from labels
    where episode_id is not null and agent is not null and rubric = 'avalon_minds' and question = 'accusation_right'
),

-- repeats of one message are one answer; half yes and half no is unclear
answers as (
    select
        episode_id, agent, judge,
        bool_and(coalesce(answer in ('na', 'n/a'), false)) as is_silent,
        avg(case when answer not in ('na', 'n/a') then coalesce(score, 0.5) end) as score
    from given
    group by episode_id, turn, agent, judge, unit_id
),

spoken as (
    select episode_id, agent, count(*) as messages
    from utterances
    where channel = 'public' and not superseded and trim(text) <> ''
    group by all
),

tables as (
    select episode_id, count(*) as players, count(*) filter (side = 'evil') as evil
    from avalon_players
    group by all
    having count(*) = count(side)
),

judged as (
    select
        episode_id, agent, judge,
        count(*) filter (is_silent or score is not null) as known,
        count(*) filter (is_silent) as silent,
        count(*) filter (score > 0.5) as yes,
        count(*) filter (score < 0.5) as no,
        count(*) filter (score = 0.5) as unclear
    from answers
    group by all
),

asked as (
    select distinct episode_id, judge
    from answers
),

by_player as (
    select
        episodes.model, speakers.role, speakers.side, asked.judge, speakers.episode_id, spoken.messages,
        case when asked.judge is not null then coalesce(columns(judged.* exclude (episode_id, agent, judge)), 0) end,
        (tables.evil - (speakers.side = 'evil')::int) / (tables.players - 1) as share
    from avalon_players as speakers
    inner join episodes using (episode_id)
    inner join tables using (episode_id)
    inner join spoken on speakers.episode_id = spoken.episode_id and speakers.player = spoken.agent
    left join asked on speakers.episode_id = asked.episode_id
    left join judged on speakers.episode_id = judged.episode_id and speakers.player = judged.agent and asked.judge = judged.judge
),

by_game as (
    select
        model, role, side, judge,
        sum(columns('^(messages|known|silent|yes|no|unclear)$'))::bigint,
        sum(share * (yes + no)) as expected
    from by_player
    group by model, role, side, judge, episode_id
)

select
    model, role, side, judge,
    sum(messages)::bigint as messages,
    case when sum(yes + no + unclear) > 0 or sum(messages) = sum(known) then sum(yes + no + unclear)::bigint end as accusing,
    sum(silent)::bigint as silent,
    sum(messages - known)::bigint as unknown,
    case when accusing is not null then sum(yes)::bigint end as right_accusations,
    case when accusing is not null then sum(no)::bigint end as wrong_accusations,
    sum(yes) / nullif(sum(yes + no), 0) as right_rate,
    cluster_low(yes, yes + no) as low,
    cluster_high(yes, yes + no) as high,
    sum(expected) / nullif(sum(yes + no), 0) as chance
from by_game
group by all;

-- avalon_turning_points: proposals of Avalon by what the vote on them cost good: the chance of good by stated play (docs/avalon.md, a model).
-- One row is a proposal with a vote.
-- Report: avalon-turning-points, ordered by regret desc, game, turn
-- Listed: Avalon: the proposals that cost good most, by a model
-- Shows: game, mission, proposal, leader, team, team_evil, chance_before, chance_after, regret, wrong, proven_wrong
create or replace view avalon_turning_points as
with voted as (
    select
        episode_id, turn,
        string_agg(player, '|') filter (side = 'good' and vote_right = 0) as wrong,
        string_agg(player, '|') filter (proven_mistake = 1 or clean_rejected = 1) as proven_wrong
    from avalon_votes
    group by all
)

select
    proposals.episode_id, proposals.turn, proposals.game, proposals.mission, proposals.proposal, proposals.leader, proposals.side, proposals.team,
    proposals.team_evil, proposals.result,
    started.value_before as chance_before,
    vote.value_after as chance_after,
    vote.value_before as chance_best,
    vote.cost as regret,
    voted.wrong, voted.proven_wrong
from avalon_proposals as proposals
inner join turn_values as vote on proposals.episode_id = vote.episode_id and proposals.turn = vote.turn and vote.measure = 'avalon.vote'
inner join turn_values as started on proposals.episode_id = started.episode_id and proposals.turn = started.turn and started.measure = 'avalon.good_wins'
left join voted on proposals.episode_id = voted.episode_id and proposals.turn = voted.turn;
