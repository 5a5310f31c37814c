-- coordqa_answers: answers to CoordinationQA, with what was read out of each response, and how.
-- One row is an answer; one that several files have (same question, respondent and trial) counts once, as in coordination_repeated_episodes.
--   episode_id  text  the answer, which is an episode of its own
--   respondent
--   trial  number  repetition; null if the log does not record it
--   scenario  number  from 0
--   type  text  EC, TOM or JP: environment comprehension, theory of mind, joint planning
--   game  text  Hanabi, Overcooked, CollabCapture or CollabEscape, by content, as the paper counts
--   game_upstream  text  Hanabi, Overcooked or CollabGames, as the question file names it; five Overcooked scenarios are called CollabGames
--   published_letter  text  the letter that the published scoring takes out of the response
--   published_way  text  marker_letter, letter, fuzzy or failed: how it finds it
--   published_similarity  0..100  of the most similar option; null unless the way is fuzzy
--   read_letter  text  the letter that careful reading finds; null where the response names none
--   read_kind  text  letter, bare_letter, text, several, not_an_option, refusal, truncated, failed_call or no_answer
--   correct  flag  published letter in the published key: the paper's verdict
--   correct_read  flag  read letter in the published key
--   correct_corrected  flag  read option right by the corrected key
--   chance  0..1  probability that a uniform guess among the options is right
--   chance_upstream  0..1  the same for the published random model, which also draws letters that no option has
--   chance_corrected  0..1  chance with the corrected key
--   intended_correct  flag  the letter that a scripted respondent meant is in the key; null where it is not known what was meant
--   extraction_agrees  flag  the published letter is the one that was meant; null where that is not known
--   reading_agrees  flag  the read letter is the one that was meant; null where that is not known
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
--   respondent
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
--   intended_accuracy  0..1  what a perfect reader would score; null where it is not known what was meant
--   extraction_agreement  0..1  share of answers whose published letter is the one that was meant; null likewise
--   reading_agreement  0..1  share of answers whose read letter is the one that was meant; null likewise
--   chance  0..1  expected accuracy of a uniform guess among the options, published key
--   chance_corrected  0..1  the same with the corrected key
--   chance_upstream  0..1  expected accuracy of the published random model
-- Report: coordination-qa, ordered by respondent, grouping, game, type
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
