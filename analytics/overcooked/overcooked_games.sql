-- overcooked_games: Collab-Overcooked games with the columns of the reference tables.
-- One row is a game as logged (variant raw), and once more as cut to its time limit where that changes anything (truncated_1_5).
--   policy  text  the team as the log names it, as `episodes.model` (published logs: the folder above the order's); then rule set, form of the
--                 recipe and of the prompt where they are not the usual ones or the game has players of its own: they are not averaged over
--   order  text  what is cooked
--   level  number  1 to 6
--   file  text  path relative to the folder given to `cotrace ingest`
--   variant  text  raw, or truncated_1_5: cut to the time limit, failed
--   horizon  steps  after how many steps the engine stops. Published logs do not say: the time limit, or the engine's default of 120 where
--                   the game is longer
--   time_limit_1_5  steps  the whole part of 1.5 times the level's optimal time
--   n_timesteps  steps  executed
--   last_timestamp  steps  index of the last step, from 0
--   success  number  1: the order was delivered, however late (the code's success), else 0
--   total_score  points  as logged; cutting does not reset it
--   within_limit  number  1: delivered within the time limit (the paper's success), else 0
--   n_actions_agent_0  count  the Chef's recorded actions that count
--   n_actions_agent_1  count  the Assistant's
--   tes_agent_0  0..1  trajectory efficiency of the Chef against the best of its published references
--   similarity_agent_0  0..1  share of that reference that was followed
--   redundancy_agent_0  0..1  what the code calls so: the share of actions that follow it (1 is none redundant)
--   tes_agent_1  0..1  the same of the Assistant
--   similarity_agent_1  0..1  the same of the Assistant
--   redundancy_agent_1  0..1  the same of the Assistant
--   pc  0..1  progress completeness: mean of both tes
--   overall_mean_f1  0..1  the code's `overall.mean_f1`, which is 0 for a perfect game; not to be used
--   time_avg  steps  the code's mean time of successful games: last_timestamp, 0 if the order was not delivered
--   success_rate  0..1  the code's: 1 if the order was delivered
--   n_communications  count  conversations opened by the Chef on its own turn
--   n_initiate_ok  count  those whose request raises the Assistant's tes
--   n_respond_ok  count  those whose answer raises it
--   initiate_collaboration  0..1  the paper's (Eq. 5): the share of the required collaborations that was rightly asked for
--   respond_collaboration  0..1  the paper's: the share of them that was rightly responded to
--   initiate_collaboration_upstream  0..1  the code's: n_initiate_ok / n_communications; 0 without any. Reference files call it
--                                          initiate_collaboration
--   respond_collaboration_upstream  0..1  the code's: n_respond_ok / n_communications; 0 without any
--   confusion_matrix  text  3 x 2 x 2 counts as the code prints them (docs/overcooked.md)
--   process_result  text  codes of the conversations as the code prints them: 0 both right, 1 only the request, 2 only the answer, 3 none
--   calls_agent_0  count  conversations that the Chef opened
--   calls_agent_1  count  conversations that the Assistant opened
--   validator_errors_agent_0  count  refused actions of the Chef
--   validator_errors_agent_1  count  of the Assistant
--   format_errors_agent_0  count  unreadable answers of the Chef
--   format_errors_agent_1  count  of the Assistant
--   encoding_warnings  count  recorded actions that the code does not know and drops, of both
-- Reads: episodes, runs, episode_metrics.
create or replace view overcooked_games as

with spans as (
    select
        episode_id,
        map_from_entries(list((metric[len('overcooked.') + 1 :], value)) filter (not ends_with(metric, '_uncut'))) as within_limit,
        map_from_entries(
            list((replace(metric[len('overcooked.') + 1 :], '_uncut', ''), value)) filter (ends_with(metric, '_uncut'))
        ) as uncut
    from episode_metrics
    where starts_with(metric, 'overcooked.')
    group by episode_id
),

-- what was cut failed, whatever became of the order later
numbers as (
    select
        episode_id,
        'raw' as variant,
        map_concat(within_limit, uncut) as number
    from spans
    union all
    select
        episode_id,
        'truncated_1_5' as variant,
        map_concat(within_limit, map {'success_upstream': 0::double}) as number
    from spans
    where uncut is not null
),

texts as (
    select
        episode_id,
        variant,
        replace(json_extract(details, '$.confusion_matrix') ->> variant, ',', ', ') as confusion_matrix,
        '[['
            || array_to_string(json_extract_string(json_extract(details, '$.events') -> variant, '$[*].process_code'), ', ')
            || ']]' as process_result
    from episodes, (values ('raw'), ('truncated_1_5')) as variants (variant)
    where benchmark = 'overcooked'
)

select
    concat_ws(
        ', ',
        episodes.model,
        coalesce(runs.condition ->> 'agents', nullif(runs.condition ->> 'rules', 'published')),
        nullif(runs.condition ->> 'recipe', 'plain'),
        case
            when runs.condition ->> 'agents' is not null and coalesce(runs.condition ->> 'prompt', 'published') = 'published'
                then 'published prompt'
        end
    ) as policy,
    episodes.task_id as "order",
    try_cast(episodes.level as integer) as level,
    episodes.file,
    numbers.variant,
    number['horizon']::integer as horizon,
    number['time_limit_1_5']::integer as time_limit_1_5,
    number['n_timesteps']::integer as n_timesteps,
    number['last_timestamp']::integer as last_timestamp,
    number['success_upstream']::integer as success,
    number['total_score'] as total_score,
    number['success']::integer as within_limit,
    number['n_actions_agent_0']::integer as n_actions_agent_0,
    number['n_actions_agent_1']::integer as n_actions_agent_1,
    number['tes_agent_0'] as tes_agent_0,
    number['similarity_agent_0'] as similarity_agent_0,
    number['redundancy_agent_0_upstream'] as redundancy_agent_0,
    number['tes_agent_1'] as tes_agent_1,
    number['similarity_agent_1'] as similarity_agent_1,
    number['redundancy_agent_1_upstream'] as redundancy_agent_1,
    number['pc'] as pc,
    number['overall_mean_f1'] as overall_mean_f1,
    case when number['success_upstream'] = 1 then number['last_timestamp'] else 0 end as time_avg,
    number['success_upstream'] as success_rate,
    number['n_communications']::integer as n_communications,
    number['n_initiate_ok']::integer as n_initiate_ok,
    number['n_respond_ok']::integer as n_respond_ok,
    number['initiate_collaboration'] as initiate_collaboration,
    number['respond_collaboration'] as respond_collaboration,
    number['initiate_collaboration_upstream'] as initiate_collaboration_upstream,
    number['respond_collaboration_upstream'] as respond_collaboration_upstream,
    texts.confusion_matrix,
    texts.process_result,
    number['calls_agent_0']::integer as calls_agent_0,
    number['calls_agent_1']::integer as calls_agent_1,
    number['validator_errors_agent_0']::integer as validator_errors_agent_0,
    number['validator_errors_agent_1']::integer as validator_errors_agent_1,
    number['format_errors_agent_0']::integer as format_errors_agent_0,
    number['format_errors_agent_1']::integer as format_errors_agent_1,
    (number['encoding_warnings_agent_0'] + number['encoding_warnings_agent_1'])::integer as encoding_warnings
from episodes
inner join runs using (run_id)
inner join numbers using (episode_id)
inner join texts using (episode_id, variant)
where episodes.benchmark = 'overcooked';
