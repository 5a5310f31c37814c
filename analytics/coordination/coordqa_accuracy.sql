-- coordqa_accuracy: accuracy in CoordinationQA by respondent, grouping of the games and type of question, beside chance.
-- One row is a respondent, a group of scenarios and a type.
--   respondent  text  who answered
--   grouping  text  upstream (column Game of the question file, and all) or paper (by content)
--   game  text  a game of that grouping; all; or CollabGames13: both collab games of the paper
--   type  text  EC, TOM or JP
--   trials  count  trials with answers in the group
--   questions  count  answers of a trial, on average
--   accuracy  0..1  mean over trials of the share that the published scoring counts as right
--   accuracy_se  0..1  standard error over trials as published: ddof 0, over sqrt(trials)
--   accuracy_se_sample  0..1  the same with ddof 1; null below two trials
--   accuracy_low  0..1  lower end of the 95 % interval of accuracy over questions (clustered_low): asking the same ones again does not make it narrower
--   accuracy_high  0..1  upper end
--   accuracy_read  0..1  with careful reading and the published key
--   accuracy_corrected  0..1  with careful reading and the corrected key
--   accuracy_corrected_se  0..1  standard error over trials, ddof 0
--   intended_accuracy  0..1  what a perfect reader would score; null where nobody knows what was meant
--   extraction_agreement  0..1  share of answers whose published letter is the one that was meant; null likewise
--   reading_agreement  0..1  share of answers whose read letter is the one that was meant; null likewise
--   chance  0..1  expected accuracy of a uniform guess among the options, published key
--   chance_corrected  0..1  the same with the corrected key
--   chance_upstream  0..1  expected accuracy of the published random model
-- Report: coordination-qa, ordered by respondent, grouping, game, type
-- Reads: coordqa_answers, intervals.
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
        type,
        trial,
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
        respondent,
        grouping,
        game,
        type,
        clustered_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) as accuracy_low,
        clustered_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) as accuracy_high
    from by_question
    group by all
)

select
    respondent,
    grouping,
    game,
    type,
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
    avg(intended_accuracy) as intended_accuracy,
    avg(extraction_agreement) as extraction_agreement,
    avg(reading_agreement) as reading_agreement,
    avg(chance) as chance,
    avg(chance_corrected) as chance_corrected,
    avg(chance_upstream) as chance_upstream
from trials
inner join over_questions using (respondent, grouping, game, type)
group by all;
