-- coordination_scores: the scores of LLM-Coordination in one long table: CoordinationQA, its chance levels, and the four games.
-- One row is a number.
--   section  text  coordqa, hanabi, overcooked, collab_capture or collab_escape
--   item  text  respondent or game; RANDOM: exact expectation of guessing; ALL: over all games of the section
--   group  text  `upstream:<game>` or `paper:<game>`, in the two groupings of coordqa_accuracy; layout, scenario or episode; all
--   metric  text  name; one that ends in `_upstream` follows the published code where that differs from the paper
--   value  number  the score
--   stderr  number  standard error, ddof 0 over sqrt(n), as the published code; of RANDOM the standard deviation of one trial; null where
--                   there is nothing to average
--   n  text  number of values: trials x questions, questions, or games
-- Reads: coordqa_accuracy, coordqa_answers.
create or replace view coordination_scores as

with qa as (
    select
        'coordqa' as section,
        respondent as item,
        grouping || ':' || game as "group",
        'accuracy_' || type as metric,
        accuracy as value,
        accuracy_se as stderr,
        trials || 'x' || questions::int as n
    from coordqa_accuracy
),

read_by_hand as (
    select
        'coordqa' as section,
        respondent as item,
        'all' as "group",
        unnest([
            {'metric': 'intended_accuracy_' || type, 'value': avg(intended_correct::int)},
            {'metric': 'extraction_agreement_' || type, 'value': avg(extraction_agrees::int)}
        ]) as found,
        count(intended_correct)::varchar as n
    from coordqa_answers
    group by respondent, type
    having count(intended_correct) > 0
),

questions as (
    select distinct on (scenario, type)
        type,
        game,
        game_upstream,
        chance,
        chance_upstream,
        chance_corrected
    from coordqa_answers
),

placed as (
    select
        type,
        chance,
        chance_upstream,
        chance_corrected,
        unnest([
            'upstream:all',
            'upstream:' || game_upstream,
            'paper:' || game,
            case when game like 'Collab%' then 'paper:CollabGames13' end
        ]) as "group"
    from questions
),

guesses as (
    select
        type,
        "group",
        unnest([
            {'name': 'random_expectation_upstream_', 'p': chance_upstream},
            {'name': 'random_expectation_', 'p': chance},
            {'name': 'random_expectation_corrected_key_', 'p': chance_corrected}
        ]) as guess
    from placed
    where "group" is not null
),

chance as (
    select
        'coordqa' as section,
        'RANDOM' as item,
        "group",
        guess.name || type as metric,
        avg(guess.p) as value,
        sqrt(sum(guess.p * (1 - guess.p))) / count(*) as stderr,
        count(*)::varchar as n
    from guesses
    group by all
)

select * from qa
union all by name
select section, item, "group", found.metric as metric, found.value as value, null::double as stderr, n from read_by_hand
union all by name
select * from chance;
