-- coordination_repeated_episodes: episodes of LLM-Coordination that are logged twice.
-- One row is an episode in whose place another one counts: an answer to a question of a game that the same respondent answered in the same trial in
-- another file (where no trial is logged: in a trial with the same responses), or a console text or players' files of a game that has a step log.
-- Of equal answers, one whose meaning is known counts, else one whose call did not fail, else the first by id.
create or replace view coordination_repeated_episodes as
with answers as (
    select
        episodes.episode_id,
        row_number() over (
            partition by
                episodes.model, episodes.seed, episodes.task_id, episodes.details ->> 'game_upstream',
                case when episodes.seed is null then episodes.details ->> 'trial_fingerprint' end
            order by meant.value is null, episodes.stop_reason = 'failed_call', episodes.episode_id
        ) as place
    from episodes
    left join episode_metrics as meant
        on episodes.episode_id = meant.episode_id and meant.metric = 'coordination.intended_accuracy'
    where episodes.benchmark = 'coordination' and episodes.level in ('EC', 'TOM', 'JP')
),

played as (
    select
        episode_id,
        details ->> 'fingerprint' as fingerprint,
        coalesce((details ->> 'console')::boolean, false) as is_text
    from episodes
    where benchmark = 'coordination' and level not in ('EC', 'TOM', 'JP')
)

select episode_id
from answers
where place > 1
union all
select texts.episode_id
from played as texts
where texts.is_text and texts.fingerprint in (select fingerprint from played where not is_text);

-- coordination_score_bounds: how high the score of a game of LLM-Coordination can be; it differs from game to game.
-- One row is a run.
create or replace view coordination_score_bounds as
select
    run_id, case
        when starts_with(name, 'hanabi') then 25
        when starts_with(name, 'overcooked') then null
        else 1
    end as score_max,
    condition ->> 'game' as game
from runs
where benchmark = 'coordination';

-- coordination_games: the games of LLM-Coordination, without CoordinationQA.
-- One row is a game; left out are console texts and players' files of a game that also has a step log, and the records of one
-- player alone, which have no score.
-- Report: coordination, ordered by game, model, variant, episode_id
-- Listed: LLM-Coordination: the games
-- Shows: game, model, variant, turns, score, success
create or replace view coordination_games as
select
    episodes.episode_id,
    episodes.level as game,
    episodes.details ->> 'episode' as episode,
    episodes.model,
    case when episodes.level in ('overcooked', 'collab_capture') then episodes.task_id else 'episode' end as variant,
    (episodes.details ->> 'complete')::boolean as complete,
    episodes.turns_taken as turns,
    episodes.score,
    bombs.value = 1 as bombed,
    episodes.success
from episodes
anti join coordination_repeated_episodes using (episode_id)
left join episode_metrics as bombs
    on episodes.episode_id = bombs.episode_id and bombs.metric = 'coordination.hanabi_bombed'
where
    episodes.benchmark = 'coordination'
    and episodes.score is not null
    and episodes.level in ('hanabi', 'overcooked', 'collab_capture', 'collab_escape');

-- coordination_partners: score of a player of Hanabi or Overcooked by the skill of its graded partner (`script:graded_N`).
-- One row is a player, a game or layout, and a skill. Graded scripts stand in for the papers' trained partners (BC, OBL), which are not
-- published: they show how a score depends on a partner's skill, not how one plays with a learned convention (docs/coordination.md).
-- Games with one seed count as one value, their mean, since they share cards or start.
-- Report: coordination-partners, ordered by game, variant, player, skill
-- Listed: LLM-Coordination: scores by the skill of a graded partner
create or replace view coordination_partners as
with pairs as (
    select
        played.*, coalesce(episodes.seed::varchar, episodes.episode_id) as seed,
        unnest([
            {'player': team ->> 'alice', 'partner': team ->> 'bob'},
            {'player': team ->> 'bob', 'partner': team ->> 'alice'}
        ], recursive := true)
    from coordination_games as played
    inner join episodes using (episode_id)
    where played.game in ('hanabi', 'overcooked')
),

graded as (
    select
        game, variant, player, seed,
        regexp_extract(partner, '^(script:)?graded_([0-9]+)$', 2)::int as skill,
        avg(score) as score,
        count(*) as games
    from pairs
    where regexp_matches(partner, '^(script:)?graded_[0-9]+$') and player is not null
    group by all
),

means as (
    select
        game, variant, player, skill,
        sum(games)::bigint as games,
        count(*) as seeds,
        avg(score) as score,
        t_critical(count(*) - 1) * nullif(stddev_samp(score), 0) / sqrt(count(*)) as half
    from graded
    group by all
)

select game, variant, player, skill, games, seeds, score, greatest(score - half, 0) as low, score + half as high
from means;

-- coordination_scores: the scores of LLM-Coordination in one long table: CoordinationQA, its chance levels, and the four games.
-- One row is a number.
create or replace view coordination_scores as
with qa as (
    select
        'coordqa' as section,
        respondent as item,
        grouping || ':' || game as "group",
        'accuracy_' || type as metric,
        accuracy as value,
        accuracy_se as stderr,
        trials || 'x' || questions::int as n
    from coordqa_accuracy
),

read_by_hand as (
    select
        'coordqa' as section,
        respondent as item,
        'all' as "group",
        unnest([
            {'metric': 'intended_accuracy_' || type, 'value': avg(intended_correct::int)},
            {'metric': 'extraction_agreement_' || type, 'value': avg(extraction_agrees::int)}
        ]) as found,
        count(intended_correct)::varchar as n
    from coordqa_answers
    group by respondent, type
    having count(intended_correct) > 0
),

questions as (
    select distinct on (scenario, type)
        type, game, game_upstream, chance, chance_upstream, chance_corrected
    from coordqa_answers
),

placed as (
    select
        type, chance, chance_upstream, chance_corrected,
        unnest([
            'upstream:all',
            'upstream:' || game_upstream,
            'paper:' || game,
            case when game like 'Collab%' then 'paper:CollabGames13' end
        ]) as "group"
    from questions
),

guesses as (
    select
        type,
        "group",
        unnest([
            {'name': 'random_expectation_upstream_', 'p': chance_upstream},
            {'name': 'random_expectation_', 'p': chance},
            {'name': 'random_expectation_corrected_key_', 'p': chance_corrected}
        ]) as guess
    from placed
    where "group" is not null
),

chance as (
    select
        'coordqa' as section,
        'RANDOM' as item,
        "group",
        guess.name || type as metric,
        avg(guess.p) as value,
        sqrt(sum(guess.p * (1 - guess.p))) / count(*) as stderr,
        count(*)::varchar as n
    from guesses
    group by all
),

played as (
    select
        coordination_games.game as section,
        coordination_games.episode as item,
        coordination_games.variant as "group",
        substr(episode_metrics.metric, length('coordination.' || coordination_games.game || '_') + 1) as metric,
        episode_metrics.value,
        null::double as stderr,
        '1' as n
    from coordination_games
    inner join episode_metrics using (episode_id)
    where starts_with(episode_metrics.metric, 'coordination.' || coordination_games.game || '_')
),

teams as (
    select
        episode_id, case
            when team ->> 'alice' = team ->> 'bob' then team ->> 'alice'
            when coalesce(team ->> 'alice', team ->> 'bob') is not null
                then coalesce(team ->> 'alice', 'unknown') || '+' || coalesce(team ->> 'bob', 'unknown')
        end as team
    from episodes
    where benchmark = 'coordination'
),

-- of all games together, and of each team that is named
counted as (
    select *, 'ALL' as item from coordination_games
    union all by name
    select coordination_games.*, teams.team as item
    from coordination_games
    inner join teams using (episode_id)
    where teams.team is not null
),

samples as (
    select game, item, 'score' as metric, score as value from counted where game in ('hanabi', 'overcooked')
    union all
    select game, item, 'bomb_rate', bombed::int from counted where game = 'hanabi'
    union all
    select game, item, 'capture_rate', score from counted where game = 'collab_capture'
    union all
    select game, item, 'escape_rate', score from counted where game = 'collab_escape'
    union all
    select game, item, 'escape_rate_percent_upstream', 100 * score from counted where game = 'collab_escape'
    union all
    select game, item, 'average_turns', turns from counted where game like 'collab%' and success
    union all
    select game, item, 'average_turns_upstream', turns from counted where game like 'collab%'
),

averages as (
    select
        game as section,
        item,
        'all' as "group",
        metric,
        avg(value) as value,
        case when metric not like '%rate%' then stddev_pop(value) / sqrt(count(*)) end as stderr,
        count(*)::varchar as n
    from samples
    group by game, item, metric
),

sample_errors as (
    select
        game as section,
        item,
        'all' as "group",
        'score_stderr_ddof1' as metric,
        stddev_samp(value) / sqrt(count(*)) as value,
        null::double as stderr,
        count(*)::varchar as n
    from samples
    where metric = 'score'
    group by game, item
    having count(*) > 1
)

select * from qa
union all by name
select section, item, "group", found.metric as metric, found.value as value, null::double as stderr, n from read_by_hand
union all by name
select * from chance
union all by name
select * from played
union all by name
select * from averages
union all by name
select * from sample_errors;
