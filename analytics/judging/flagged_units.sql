-- flagged_units: units whose text tries to speak to the judge, and what the judges answered about them.
-- One row is (unit_id, flagged): a unit and what was found in the text that judges were shown.
--   unit_id  text  what was judged
--   flagged  text  kinds of attempt, joined by |: order, verdict, frame, hidden, markup, sql, formula
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose utterance or turn; null for a group
--   model  text  the evaluated model, which may have written it
--   rubrics  count  rubrics under which the unit was shown
--   verdicts  count  verdicts on it
--   score_mean  0..1  mean of the scored ones; null if there is none
--   score_mean_others  0..1  mean score of the same rubrics' verdicts on units of the same model without such text; null if there is none
-- Report: flagged, ordered by unit_id, flagged
-- Shows: unit_id, flagged, model, verdicts, score_mean, score_mean_others
-- Reads: verdicts_latest, episodes.
create or replace view flagged_units as

with scored as (
    select
        v.*,
        e.model
    from verdicts_latest as v
    inner join episodes as e on v.episode_id = e.episode_id
),

clean as (
    select
        rubric,
        model,
        sum(score) as total,
        count(score) as n
    from scored
    where flagged is null
    group by all
),

found as (
    select
        unit_id,
        flagged,
        any_value(episode_id) as episode_id,
        any_value(turn) as turn,
        any_value(agent) as agent,
        model,
        list(distinct rubric) as shown_under,
        count(*) as verdicts,
        avg(score) as score_mean
    from scored
    where flagged is not null
    group by unit_id, flagged, model
)

select
    found.unit_id,
    found.flagged,
    found.episode_id,
    found.turn,
    found.agent,
    found.model,
    len(found.shown_under) as rubrics,
    found.verdicts,
    found.score_mean,
    (
        select sum(clean.total) / nullif(sum(clean.n), 0)
        from clean
        where clean.model = found.model and list_contains(found.shown_under, clean.rubric)
    ) as score_mean_others
from found;
