-- verdicts_latest: the verdicts that count: of each answer the one of the latest scoring job, where what was judged is still in the store; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Columns as in: verdicts.
-- Reads: verdicts_newest, episodes, turns.
create or replace view verdicts_latest as

select latest.*
from verdicts_newest as latest
where
    latest.episode_id in (select episodes.episode_id from episodes)
    and (latest.turn is null or (latest.episode_id, latest.turn) in (select (turns.episode_id, turns.turn) from turns));
