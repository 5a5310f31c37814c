-- craft_failure_map: the part of failure_map that is about CRAFT; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view craft_failure_map as
select * from rows_of('failure_map.csv');

-- craft_turn_costs: the part of turn_costs that is about CRAFT.
-- One row is a turn.
create or replace view craft_turn_costs as
select *, value_before < 0.95 as lost_before, value_after < 0.95 as lost
from turn_values
where measure = 'craft.reachable';

-- craft_turn_states: the boards before and after each turn of CRAFT, in a form in which equal boards are equal texts.
-- One row is a turn of CRAFT.
create or replace view craft_turn_states as
with stacks as (
    select
        turns.episode_id, turns.turn,
        state_before ->> '$.stacks' as before_raw,
        state_after ->> '$.stacks' as after_raw
    from turns
    inner join episodes using (episode_id)
    where benchmark = 'craft'
)

-- only the name of a stray cell can have a blank: the JSON is written without any
select
    episode_id, turn,
    case when contains(before_raw, ' ') then regexp_replace(before_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g') else before_raw end as before_state,
    case when contains(after_raw, ' ') then regexp_replace(after_raw, ',?"[^"]* [^"]*":\[[^\]]*\]', '', 'g') else after_raw end as after_state
from stacks;

-- craft_turn_facts: everything countable about a CRAFT turn; craft_turns, craft_games and craft_models are made from it.
-- One row is a turn of a CRAFT game.
create or replace view craft_turn_facts as
with craft_episodes as (
    select
        episodes.episode_id, episodes.run_id, episodes.level, run_conditions.condition, episodes.model,
        episodes.team ->> 'builder' as builder,
        episodes.task_id as structure_id,
        episodes.seed as run
    from episodes
    inner join run_conditions using (run_id)
    where episodes.benchmark = 'craft'
),

speakers as (
    select episode_id, turn, count(distinct agent) as n_directors
    from utterances
    where agent <> 'Builder'
    group by all
),

parsed as (
    select
        episode_id, turn, verb,
        verb = 'clarify' as clarify,
        verb in ('clarify', 'unreadable') as still,
        verb = 'remove' as is_remove,
        accepted, error_text,
        json_transform(
            arguments, '{"block": "VARCHAR", "position": "VARCHAR", "layer": "BIGINT", "span_to": "VARCHAR"}'
        ) as move
    from actions
),

candidates as (
    select
        episode_id, turn,
        count(*) filter (listed) as n_listed,
        count(*) filter (verified) as n_verified,
        count(*) filter (listed and undoes) as n_listed_remove,
        coalesce(bool_or(undoes) filter (listed and rank = 1), false) as first_is_remove
    from oracle_actions
    group by all
),

numbers as (
    from (select episode_id, turn, metric[7:] as metric, value from turn_metrics where starts_with(metric, 'craft.'))
    pivot (max(value) for metric in (
        'overall_progress', 'completion_percentage', 'iou_score', 'position_accuracy', 'distance_score', 'followed_full',
        'followed_physical', 'correct_structure_placement', 'correct_side_placement', 'overall_structure_correctness'
    ) group by episode_id, turn)
),

categories as (
    select failures.episode_id, failures.turn, failures.category, taxonomy_paper
    from failures
    left join rows_of('paper_names.csv') using (category)
    where failures.taxonomy = 'craft_published'
),

joined as (
    select
        craft_episodes.*,
        turns.turn,
        coalesce(speakers.n_directors, 0) as n_directors,
        coalesce(parsed.clarify, false) as clarify,
        turns.error as turn_error,
        case when not parsed.still then parsed.verb end as action,
        case when not parsed.still then parsed.move end as move,
        case when parsed.still then false else parsed.accepted end as move_executed,
        case when not parsed.still then not parsed.accepted end as failed_move,
        case
            when contains(lower(parsed.error_text), 'layer') then 'layer'
            when contains(lower(parsed.error_text), 'span') then 'span'
            when parsed.error_text is not null then 'other'
        end as error_category,
        parsed.error_text as error,
        -- the published logs list candidates only with a move, those of cotrace always: rates count those of moves
        coalesce(turns.oracle_available and not parsed.still, false) as oracle_available,
        coalesce(case when not parsed.still then candidates.n_listed end, 0) as n_oracle,
        coalesce(candidates.n_verified, 0) as n_oracle_replayed,
        coalesce(case when not parsed.still then candidates.n_listed_remove end, 0) as n_oracle_remove,
        candidates.first_is_remove,
        case when not parsed.still then parsed.is_remove end as attempted_remove,
        turns.oracle_followed as followed_logged,
        numbers.followed_full = 1 as followed_full,
        numbers.followed_physical = 1 as followed_physical,
        categories.category as taxonomy_code,
        categories.taxonomy_paper,
        columns('^(correct_structure_placement|correct_side_placement|overall_structure_correctness)$') = 1,
        turns.goal_reached as target_achieved,
        (turns.state_before ->> '$.stacks') <> (turns.state_after ->> '$.stacks') as board_changed,
        numbers.overall_progress, numbers.completion_percentage, numbers.iou_score, numbers.position_accuracy,
        numbers.distance_score
    from craft_episodes
    inner join turns using (episode_id)
    left join parsed using (episode_id, turn)
    left join speakers using (episode_id, turn)
    left join candidates using (episode_id, turn)
    left join numbers using (episode_id, turn)
    left join categories using (episode_id, turn)
)

select
    current.episode_id, current.run_id, current.level, current.condition, current.model, current.builder,
    current.structure_id, current.run, current.turn, current.n_directors, current.clarify, current.turn_error,
    current.action,
    current.move.block as block,
    current.move.position as position,
    current.move.layer as layer,
    current.move.span_to as span_to,
    current.move_executed, current.failed_move, current.error_category, current.error, current.oracle_available,
    current.n_oracle, current.n_oracle_replayed,
    case when current.n_oracle > 0 then current.n_oracle_remove > 0 end as oracle_remove_any,
    case when current.n_oracle > 0 then current.first_is_remove end as oracle_remove_first,
    case when current.n_oracle > 0 then current.n_oracle_remove / current.n_oracle end as oracle_remove_share,
    current.attempted_remove, current.followed_logged, current.followed_full, current.followed_physical,
    current.taxonomy_code, current.taxonomy_paper, current.correct_structure_placement, current.correct_side_placement,
    current.overall_structure_correctness, current.target_achieved, current.board_changed,
    coalesce(
        current.failed_move
        and previous.verb = current.action
        and previous.move.position = current.move.position
        and previous.move.layer = current.move.layer,
        false
    ) as repeats_previous_failed_move,
    current.overall_progress, current.completion_percentage, current.iou_score, current.position_accuracy,
    current.distance_score, current.n_oracle_remove
from joined as current
left join parsed as previous
    on current.episode_id = previous.episode_id and current.turn = previous.turn + 1 and not previous.accepted;

-- missed_turns: the turns on which verified actions were listed and none was taken: messages, attempts, possible actions, and verdicts.
-- One row is a turn.
-- Report: missed, ordered by model, condition, task_id, episode_id, turn
-- Shows: model, task_id, turn, said, tried, possible
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
        episode_id, turn,
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
        episode_id, turn,
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

-- craft_turns: the turns of CRAFT games with the columns of the reference tables.
-- Conditions are as in the reference, whose folders name the run (`api/oracle5_no_tools_run3`); all other views pool runs.
-- One row is a turn of a CRAFT game.
-- Columns as in: craft_turn_facts.
create or replace view craft_turns as
select
    * exclude (episode_id, run_id, level, n_oracle_remove)
    replace (regexp_replace(condition, '^((api/|local/)?(oracle\d+|no_oracle)_(no_)?tools)', '\1_run' || coalesce(run::varchar, '')) as condition)
from craft_turn_facts;

-- values_craft: what each turn of CRAFT games cost, with the columns of the reference tables.
-- One row is a turn of a CRAFT game with a turn limit.
create or replace view values_craft as
with measured as (
    select
        episode_id, turn,
        max(value_before) filter (measure = 'craft.reachable') as v_before,
        max(value_after) filter (measure = 'craft.reachable') as v_after,
        max(cost) filter (measure = 'craft.reachable') as regret,
        max(value_before) filter (measure = 'craft.harm') as v_stay,
        max(cost) filter (measure = 'craft.harm') as harm,
        max(value_before) filter (measure = 'craft.reachable_most') as most_before,
        max(value_after) filter (measure = 'craft.reachable_most') as most_after,
        bool_or(kind = 'bound') as bounded
    from turn_values
    where measure in ('craft.reachable', 'craft.harm', 'craft.reachable_most')
    group by all
),

starts as (
    select episode_id, value as progress
    from turn_metrics
    where metric = 'craft.overall_progress' and turn = 0
)

select
    regexp_replace(facts.condition, '^((api/|local/)?(oracle\d+|no_oracle)_(no_)?tools)', '\1_run' || coalesce(facts.run::varchar, '')) as condition,
    facts.model, facts.builder, facts.structure_id, facts.run, facts.turn,
    greatest(episodes.max_turns - facts.turn + 1, 0) as turns_left,
    case
        when facts.clarify then 'clarify'
        when facts.move_executed then 'accepted'
        when facts.action is not null then 'rejected'
        else 'error'
    end as kind,
    facts.action,
    coalesce(
        lag(facts.overall_progress) over (partition by facts.episode_id order by facts.turn), starts.progress
    ) as p_before,
    facts.overall_progress as p_after,
    measured.v_before, measured.v_after, measured.regret, measured.v_stay, measured.harm,
    coalesce(measured.most_before, measured.v_before) as v_before_hi,
    coalesce(measured.most_after, measured.v_after) as v_after_hi,
    case when measured.bounded then 'bounded' when measured.most_before is null then 'exact' else 'half_domino' end as mark
from craft_turn_facts as facts
inner join episodes using (episode_id)
inner join measured using (episode_id, turn)
left join starts using (episode_id);
