-- verdicts_latest: the verdicts that count: of each answer the one of the latest scoring job, where what was judged is still in the store; not those of probes.
-- One row is (rubric, question, judge, variant, unit_id, repeat).
-- Columns as in: verdicts.
-- Reads: verdicts_newest, episodes, turns.
create or replace view verdicts_latest as

select latest.*
from verdicts_newest as latest
where
    exists (select 1 from episodes where episodes.episode_id = latest.episode_id)
    and (
        latest.turn is null
        or exists (select 1 from turns where turns.episode_id = latest.episode_id and turns.turn = latest.turn)
    );
