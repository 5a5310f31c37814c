-- panel_disagreements: where the model judges split, with what each of them says.
-- One row is (rubric, question, variant, unit_id) whose votes are not all the same.
-- Columns as in: panel.
--   said  text  each model with its answers over the repeats, such as `llm:a: yes yes | llm:b: no yes`
-- Report: panel-disagreements, ordered by entropy desc, rubric, question, variant, unit_id
-- Shows: question, unit_id, judges, votes, entropy
-- Reads: panel, verdicts_latest.
create or replace view panel_disagreements as

with per_judge as (
    select
        rubric,
        question,
        variant,
        unit_id,
        judge,
        string_agg(replace(lower(answer), '/', ''), ' ' order by repeat) as own
    from verdicts_latest
    where status = 'answered' and starts_with(judge, 'llm:')
    group by all
),

told as (
    select
        rubric,
        question,
        variant,
        unit_id,
        string_agg(judge || ': ' || own, ' | ' order by judge) as said
    from per_judge
    group by all
)

select
    panel.*,
    told.said
from panel
inner join told
    on
        panel.rubric = told.rubric
        and panel.question = told.question
        and panel.unit_id = told.unit_id
        and panel.variant is not distinct from told.variant
where panel.split <> 'none';
