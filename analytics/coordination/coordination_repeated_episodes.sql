-- coordination_repeated_episodes: what is logged twice of LLM-Coordination.
-- One row is an episode of which another one counts: an answer to a question that the same respondent answered in the same trial in another
-- file (where no trial is logged: in a trial with the same responses), or a console text or players' files of a game that has a step log.
-- Of equal answers the one counts whose meaning is known, else one whose call did not fail, else the first by id.
--   episode_id  text  the episode
-- Reads: episodes, episode_metrics.
create or replace view coordination_repeated_episodes as

with answers as (
    select
        episodes.episode_id,
        row_number() over (
            partition by
                episodes.model,
                episodes.seed,
                episodes.task_id,
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
