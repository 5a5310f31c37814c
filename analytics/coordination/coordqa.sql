-- coordqa_answers: answers to CoordinationQA, with what was read out of each response, and how.
-- One row is an answer; one that several files have (same question, respondent and trial) counts once, as in coordination_repeated_episodes.
create or replace view coordqa_answers as
with metrics as (
    select
        episode_id,
        max(value) filter (metric = 'coordination.accuracy') = 1 as correct,
        max(value) filter (metric = 'coordination.accuracy_read') = 1 as correct_read,
        max(value) filter (metric = 'coordination.accuracy_corrected') = 1 as correct_corrected,
        max(value) filter (metric = 'coordination.chance') as chance,
        max(value) filter (metric = 'coordination.chance_upstream') as chance_upstream,
        max(value) filter (metric = 'coordination.chance_corrected') as chance_corrected,
        max(value) filter (metric = 'coordination.intended_accuracy') = 1 as intended_correct,
        max(value) filter (metric = 'coordination.extraction_agreement') = 1 as extraction_agrees,
        max(value) filter (metric = 'coordination.reading_agreement') = 1 as reading_agrees
    from episode_metrics
    where metric like 'coordination.%'
    group by all
    having chance is not null
)

select
    episodes.episode_id,
    episodes.model as respondent,
    episodes.seed as trial,
    (episodes.details ->> 'scenario')::int as scenario,
    episodes.level as type,
    episodes.details ->> 'game' as game,
    episodes.details ->> 'game_upstream' as game_upstream,
    episodes.details ->> 'published_letter' as published_letter,
    episodes.details ->> 'published_way' as published_way,
    (episodes.details ->> 'published_similarity')::int as published_similarity,
    episodes.details ->> 'read_letter' as read_letter,
    episodes.details ->> 'read_kind' as read_kind,
    metrics.correct, metrics.correct_read, metrics.correct_corrected, metrics.chance, metrics.chance_upstream,
    metrics.chance_corrected, metrics.intended_correct, metrics.extraction_agrees, metrics.reading_agrees
from episodes
inner join metrics using (episode_id)
anti join coordination_repeated_episodes using (episode_id)
where episodes.benchmark = 'coordination';

-- coordqa_accuracy: accuracy in CoordinationQA by respondent, grouping of the games and type of question, with the rate of chance.
-- One row is a respondent, a group of scenarios and a type.
-- Report: coordination-qa, ordered by respondent, grouping, game, type
-- Listed: CoordinationQA: accuracy and chance
create or replace view coordqa_accuracy as
with grouped as (
    select
        unnest([
            {'grouping': 'upstream', 'game': 'all'},
            {'grouping': 'upstream', 'game': game_upstream},
            {'grouping': 'paper', 'game': game},
            {'grouping': 'paper', 'game': case when game like 'Collab%' then 'CollabGames13' end}
        ]) as place,
        *
    from coordqa_answers
),

trials as (
    select
        respondent,
        place.grouping as grouping,
        place.game as game,
        type, trial,
        count(*) as questions,
        avg(correct::int) as accuracy,
        avg(correct_read::int) as accuracy_read,
        avg(correct_corrected::int) as accuracy_corrected,
        avg(intended_correct::int) as intended_accuracy,
        avg(extraction_agrees::int) as extraction_agreement,
        avg(reading_agrees::int) as reading_agreement,
        avg(chance) as chance,
        avg(chance_corrected) as chance_corrected,
        avg(chance_upstream) as chance_upstream
    from grouped
    where place.game is not null
    group by all
),

by_question as (
    select respondent, place.grouping as grouping, place.game as game, type, scenario, count(*) as n, count(*) filter (correct) as k
    from grouped
    where place.game is not null
    group by all
),

over_questions as (
    select
        respondent, grouping, game, type,
        cluster_low(k, n) as accuracy_low,
        cluster_high(k, n) as accuracy_high
    from by_question
    group by all
)

select
    respondent, grouping, game, type,
    count(*) as trials,
    avg(questions) as questions,
    avg(accuracy) as accuracy,
    stddev_pop(accuracy) / sqrt(count(*)) as accuracy_se,
    stddev_samp(accuracy) / sqrt(count(*)) as accuracy_se_sample,
    any_value(accuracy_low) as accuracy_low,
    any_value(accuracy_high) as accuracy_high,
    avg(accuracy_read) as accuracy_read,
    avg(accuracy_corrected) as accuracy_corrected,
    stddev_pop(accuracy_corrected) / sqrt(count(*)) as accuracy_corrected_se,
    avg(columns('^(intended_accuracy|extraction_agreement|reading_agreement|chance.*)$'))
from trials
inner join over_questions using (respondent, grouping, game, type)
group by all;
