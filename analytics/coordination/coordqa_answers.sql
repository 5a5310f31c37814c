-- coordqa_answers: answers to CoordinationQA, with what was read out of each response, and how.
-- One row is an answer; one that several files have (same question, respondent and trial) counts once, as in coordination_repeated_episodes.
--   episode_id  text  the answer, which is an episode of its own
--   respondent  text  who answered
--   trial  number  repetition; null if the log does not say
--   scenario  number  from 0
--   type  text  EC, TOM or JP: environment comprehension, theory of mind, joint planning
--   game  text  Hanabi, Overcooked, CollabCapture or CollabEscape, by content, as the paper counts
--   game_upstream  text  Hanabi, Overcooked or CollabGames, as the question file says; five Overcooked scenarios are called CollabGames
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
--   intended_correct  flag  the letter that a scripted respondent meant is in the key; null where nobody knows what was meant
--   extraction_agrees  flag  the published letter is the one that was meant; null where nobody knows
--   reading_agrees  flag  the read letter is the one that was meant; null where nobody knows
-- Reads: episodes, episode_metrics, coordination_repeated_episodes.
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
    metrics.correct,
    metrics.correct_read,
    metrics.correct_corrected,
    metrics.chance,
    metrics.chance_upstream,
    metrics.chance_corrected,
    metrics.intended_correct,
    metrics.extraction_agrees,
    metrics.reading_agrees
from episodes
inner join metrics using (episode_id)
anti join coordination_repeated_episodes using (episode_id)
where episodes.benchmark = 'coordination';
