-- answer_pairs: two raters' answers to one question about one thing, side by side.
-- One row is a pair: a label and a verdict, or two verdicts. Every answer of one rater meets every answer of the other. Judges are paired with
-- themselves too, over repeats.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   kind  text  label_judge, judge_judge or self (one judge, two repeats)
--   rater_a  text  the labels' source, or the judge whose name comes first
--   variant_a  text  variant of that judge; null: none, or labels
--   rater_b  text  the judge
--   variant_b  text  variant of that judge; null: none
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose utterance or turn; null for a group
--   answer_a  text  lower case, without slashes (`N/A` is `na`); null unless answered
--   answer_b  text  likewise
--   status_a  text  answered, undecided, failed or skipped; labels are answered
--   status_b  text  likewise
-- Reads: verdicts_latest, labels, episodes.
create or replace view answer_pairs as

with verdict_answers as (
    select
        rubric,
        question,
        judge as rater,
        variant,
        coalesce(variant, '') as variant_order,
        episode_id,
        turn,
        agent,
        unit_id,
        repeat,
        replace(lower(answer), '/', '') as answer,
        status
    from verdicts_latest
),

label_answers as (
    select
        labels.rubric,
        labels.question,
        labels.source as rater,
        labels.episode_id,
        labels.turn,
        labels.agent,
        replace(lower(labels.answer), '/', '') as answer
    from labels
    inner join episodes using (episode_id)
    -- answers of judges that came in a label file are for `cotrace report agreement`
    where not starts_with(labels.annotator, 'llm:')
),

with_labels as (
    select
        l.rubric,
        l.question,
        'label_judge' as kind,
        l.rater as rater_a,
        null::varchar as variant_a,
        v.rater as rater_b,
        v.variant as variant_b,
        l.episode_id,
        l.turn,
        l.agent,
        l.answer as answer_a,
        v.answer as answer_b,
        'answered' as status_a,
        v.status as status_b
    from label_answers as l
    inner join verdict_answers as v
        on l.rubric = v.rubric
        and l.question = v.question
        and l.episode_id = v.episode_id
        and l.turn is not distinct from v.turn
        and l.agent is not distinct from v.agent
),

with_judges as (
    select
        a.rubric,
        a.question,
        case when a.rater = b.rater and a.variant_order = b.variant_order then 'self' else 'judge_judge' end as kind,
        a.rater as rater_a,
        a.variant as variant_a,
        b.rater as rater_b,
        b.variant as variant_b,
        a.episode_id,
        a.turn,
        a.agent,
        a.answer as answer_a,
        b.answer as answer_b,
        a.status as status_a,
        b.status as status_b
    from verdict_answers as a
    inner join verdict_answers as b on a.rubric = b.rubric and a.question = b.question and a.unit_id = b.unit_id
    where
        (a.rater, a.variant_order) < (b.rater, b.variant_order)
        or (a.rater = b.rater and a.variant_order = b.variant_order and a.repeat < b.repeat)
)

select * from with_labels
union all
select * from with_judges;
