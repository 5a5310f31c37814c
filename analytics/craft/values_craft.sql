-- values_craft: what each turn of CRAFT games cost, with the columns of the reference tables.
-- One row is a turn of a CRAFT game with a turn limit.
--   condition  text  the condition and run, as in craft_turns
--   model  text  the directors' model
--   builder  text  the builder's model
--   structure_id  text  the target
--   run  number  run index of the log; null if it has none
--   turn  number  from 1
--   turns_left  turns  turns left before it, its own included
--   kind  text  accepted, rejected, clarify, or error where the turn broke off
--   action  text  place or remove; null without an attempt
--   p_before  0..1  overall progress before the turn
--   p_after  0..1  overall progress after the turn
--   v_before  0..1  highest overall progress that the turns left can reach
--   v_after  0..1  the same after the turn
--   regret  0..1  v_before - v_after: what the turn cost
--   v_stay  0..1  v_after if the turn had been wasted
--   harm  0..1  what the turn did worse than wasting it
--   v_before_hi  0..1  v_before if half dominoes could be removed with one move
--   v_after_hi  0..1  v_after if half dominoes could be removed with one move
--   mark  text  exact; half_domino: one stands there, and both readings agree; bounded: they do not, the truth lies between
-- Reads: craft_turn_facts, episodes, turn_metrics, turn_values.
create or replace view values_craft as

with measured as (
    select
        episode_id,
        turn,
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
    facts.model,
    facts.builder,
    facts.structure_id,
    facts.run,
    facts.turn,
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
    measured.v_before,
    measured.v_after,
    measured.regret,
    measured.v_stay,
    measured.harm,
    coalesce(measured.most_before, measured.v_before) as v_before_hi,
    coalesce(measured.most_after, measured.v_after) as v_after_hi,
    case when measured.bounded then 'bounded' when measured.most_before is null then 'exact' else 'half_domino' end as mark
from craft_turn_facts as facts
inner join episodes using (episode_id)
inner join measured using (episode_id, turn)
left join starts using (episode_id);
