-- coordination_duplicates: answers to CoordinationQA that the store has twice, response by response, such as a trial in its own file and in a table.
-- One row is an answer that another one stands for.
--   episode_id  text  the answer, which is an episode of its own
-- Reads: episodes, coordqa_answers.
create or replace view coordination_duplicates as

select episode_id
from episodes
where
    benchmark = 'coordination'
    and details ->> 'trial_fingerprint' is not null
    and episode_id not in (select coordqa_answers.episode_id from coordqa_answers);
