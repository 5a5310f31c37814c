-- missed_turns: the turns on which verified actions were listed and none was taken: what was said, tried and possible, and what judges say.
-- One row is a turn.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   level  text  the task's tier; null if the log does not say
--   task_id  text  the structure, puzzle, order or question
--   said  text  the public messages in order, a line each, `agent: text`
--   tried  text  the attempted actions in order, with the engine's message where it refused
--   possible  text  the listed actions, a line each
--   verdicts  text  every judge's answers about the turn or its messages, `question agent judge: answer (reason)`; null without any
-- Report: missed, ordered by model, condition, task_id, episode_id, turn
-- Shows: model, task_id, turn, said, tried, possible
-- Reads: outcomes, utterances, actions, oracle_actions, verdicts_latest.
create or replace view missed_turns as

with missed as (
    select episode_id, turn, benchmark, condition, model, level, task_id
    from outcomes
    where outcome = 'not_followed'
),

messages as (
    select episode_id, turn, string_agg(agent || ': ' || text, chr(10) order by seq) as said
    from utterances
    where channel = 'public'
    group by all
),

attempts as (
    select
        episode_id,
        turn,
        string_agg(
            agent || ': ' || verb || ' ' || arguments || coalesce(' (refused: ' || error_text || ')', ''), chr(10) order by seq
        ) as tried
    from actions
    group by all
),

candidates as (
    select episode_id, turn, string_agg(verb || ' ' || arguments, chr(10) order by rank) as possible
    from oracle_actions
    where listed
    group by all
),

answers as (
    select
        episode_id,
        turn,
        string_agg(
            question || ' ' || coalesce(agent, 'group') || ' ' || judge || ': ' || coalesce(answer, status)
            || coalesce(' (' || reason || ')', ''),
            chr(10)
            order by rubric, question, agent, judge, repeat
        ) as verdicts
    from verdicts_latest
    where turn is not null
    group by all
)

select missed.*, messages.said, attempts.tried, candidates.possible, answers.verdicts
from missed
left join messages using (episode_id, turn)
left join attempts using (episode_id, turn)
left join candidates using (episode_id, turn)
left join answers using (episode_id, turn);
