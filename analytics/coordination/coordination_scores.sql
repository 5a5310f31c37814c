-- coordination_scores: the scores of LLM-Coordination in one long table: CoordinationQA, its chance levels, and the four games.
-- One row is a number.
--   section  text  coordqa, hanabi, overcooked, collab_capture or collab_escape
--   item  text  respondent or game; RANDOM: exact expectation of guessing; ALL: over all games of the section, whoever played; else, in the
--               group `all`, over those of one team: a model that plays with itself, or Alice's and Bob's joined by + (`unknown` where
--               the log names only the other)
--   group  text  `upstream:<game>` or `paper:<game>`, in the two groupings of coordqa_accuracy; layout, scenario or episode; all
--   metric  text  name; one that ends in `_upstream` follows the published code where that differs from the paper
--   value  number  the score
--   stderr  number  standard error, ddof 0 over sqrt(n), as the published code; of RANDOM the standard deviation of one trial; null where
--                   there is nothing to average. `score_stderr_ddof1` is the other formula that the paper mixes in
--   n  text  number of values: trials x questions, questions, or games
-- Reads: coordqa_accuracy, coordqa_answers, coordination_games, episode_metrics, episodes.
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
        type,
        game,
        game_upstream,
        chance,
        chance_upstream,
        chance_corrected
    from coordqa_answers
),

placed as (
    select
        type,
        chance,
        chance_upstream,
        chance_corrected,
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
        episode_id,
        case
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
