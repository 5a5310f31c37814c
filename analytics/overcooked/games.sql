-- overcooked_games: Collab-Overcooked games with the columns of the reference tables.
-- One row is a game as logged (variant raw), and once more as cut to its time limit where that changes anything (truncated_1_5).
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
        episode_id, variant,
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
    episodes.file, numbers.variant,
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
    texts.confusion_matrix, texts.process_result,
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

-- overcooked_statistics: what the published summary script gives for each folder of logs: means over the games of an order.
-- One row is (policy, order), over games as logged.
create or replace view overcooked_statistics as
select
    policy as model,
    "order",
    avg(success) as success_rate,
    coalesce(avg(last_timestamp) filter (success = 1), 0) as time_avg,
    coalesce(stddev_pop(last_timestamp) filter (success = 1), 0) as time_var,
    avg(columns('^(f1|similarity|redundancy)_agent_0$')) as 'mean_\0',
    stddev_pop(columns('^(f1|similarity|redundancy)_agent_0$')) as 'std_\0',
    avg(columns('^(f1|similarity|redundancy)_agent_1$')) as 'mean_\0',
    stddev_pop(columns('^(f1|similarity|redundancy)_agent_1$')) as 'std_\0',
    avg(initiate_collaboration) as initiate_collaboration,
    avg(respond_collaboration) as respond_collaboration,
    coalesce(sum(n_initiate_ok) / nullif(sum(n_communications), 0), 0) as initiate_collaboration_upstream,
    coalesce(sum(n_respond_ok) / nullif(sum(n_communications), 0), 0) as respond_collaboration_upstream,
    null::double as overall_collaboration
from (select * rename (tes_agent_0 as f1_agent_0, tes_agent_1 as f1_agent_1) from overcooked_games)
where variant = 'raw'
group by policy, "order";

-- overcooked_collaborations: every conversation of Collab-Overcooked games, with where in the task it took place and why it went wrong.
-- One row is a conversation, of either opener.
create or replace view overcooked_collaborations as
with increments as (
    select
        episode_id, turn,
        case when ends_with(metric, '_chef') then 'Chef' else 'Assistant' end as opener,
        max(value) filter (starts_with(metric, 'overcooked.ites_initiate')) as ites_initiate,
        max(value) filter (starts_with(metric, 'overcooked.ites_respond')) as ites_respond
    from turn_metrics
    where starts_with(metric, 'overcooked.ites_')
    group by all
)

select
    increments.episode_id, increments.turn, run_conditions.condition, episodes.model, episodes.level, episodes.task_id,
    increments.opener, increments.ites_initiate, increments.ites_respond,
    increments.ites_initiate > 0 as initiate_ok,
    increments.ites_respond > 0 as respond_ok,
    asked.category as initiating,
    answered.category as responding,
    coalesce(earlier.progress, 0) as progress_before,
    least(4, 1 + floor(4 * coalesce(earlier.progress, 0)))::integer as position
from increments
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
left join failures as asked
    on increments.episode_id = asked.episode_id
    and increments.turn = asked.turn
    and asked.taxonomy = 'overcooked_initiating'
    and increments.opener = asked.agent
left join failures as answered
    on increments.episode_id = answered.episode_id
    and increments.turn = answered.turn
    and answered.taxonomy = 'overcooked_responding'
    and increments.opener <> answered.agent
left join turns as earlier
    on increments.episode_id = earlier.episode_id and increments.turn = earlier.turn + 1;

-- overcooked_levels: what the published conversion script gives: unweighted means of overcooked_statistics over the orders of a level.
-- One row is (policy, level). `time_avg` is too low by design where an order had no success: it enters as 0.
-- Columns as in: overcooked_statistics.
-- Report: overcooked, ordered by model, level
-- Listed: Collab-Overcooked: the statistics of the published script
-- Shows: model, level, success_rate, time_avg, initiate_collaboration, respond_collaboration
create or replace view overcooked_levels as
with levels as (
    select distinct "order", 'level_' || level as level
    from overcooked_games
)

select avg(columns(* exclude (model, "order", level))) as "\0", model, level
from overcooked_statistics
inner join levels using ("order")
group by model, level;

-- overcooked_decline: how collaboration falls off over the course of a task, and from level to level.
-- One row is (model, condition, capability, scale): conversations that the Chef opened.
create or replace view overcooked_decline as
with outcomes_of as (
    select
        model, condition,
        unnest(['initiate', 'respond']) as capability,
        unnest([initiate_ok, respond_ok])::integer as ok,
        progress_before, position,
        level::double as level
    from overcooked_collaborations
    where opener = 'Chef'
),

placed as (
    select
        *,
        unnest(['course', 'level']) as scale,
        unnest([progress_before, level]) as place,
        unnest([position = min(position) over team, level = min(level) over team]) as is_first,
        unnest([position = max(position) over team, level = max(level) over team]) as is_last
    from outcomes_of
    window team as (partition by model, condition)
)

select
    model, condition, capability, scale,
    count(*) as n,
    avg(ok) as rate,
    count(*) filter (is_first) as n_first,
    avg(ok) filter (is_first) as rate_first,
    count(*) filter (is_last) as n_last,
    avg(ok) filter (is_last) as rate_last,
    case when stddev_pop(place) > 0 then regr_slope(ok, place) end as slope
from placed
group by all;
