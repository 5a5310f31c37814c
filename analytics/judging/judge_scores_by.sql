-- judge_scores_by: how each judge answered each question; over the tasks of some tiers; a table macro: `from judge_scores_by(true)`.
-- One row is (rubric, question, judge, variant, benchmark, condition, model) and, if split, outcome.
-- Parameters: split: true for one row an outcome of the turn, false for all turns together; levels: list of the tiers that count, null for all.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   judge  text  `engine` or `llm:<model>`
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   outcome  text  of the turn, as in outcomes; `episode` for units larger than a turn; `all` if not split
--   wordings  count  versions of the rubric (hashes of its content) among the verdicts: above 1, answers to different wordings may be mixed
--   episodes  count  games with a scored answer: the clusters of score_sem
--   units  count  units put to the judge
--   verdicts  count  answers asked for: units times repeats; the sum of scored and the five numbers from categorised on
--   scored  count  answers with a number
--   scored_units  count  units with at least one of them
--   categorised  count  answered with a category, which has no number; not in score_mean
--   na  count  answered not applicable: `na`, or any answer without a number to a wording whose other answers have one; not in score_mean
--   na_by_rule  count  those of `na` that the log itself shows, so that no judge was asked (`verdicts.rule`)
--   reasons  count  reasons that a model gave, but for those in rows of older versions
--   bare_reasons  count  those of one or two words
--   contradicting_reasons  count  those that state another answer than the one given (`verdicts.reason_contradicts`)
--   undecided  count  the judge could not tell; not in score_mean
--   failed  count  no usable reply came; not in score_mean
--   skipped  count  the rubric does not apply to the unit; not in score_mean
--   score_mean  0..1  mean over units of the mean of their scored answers, so that a unit that was asked oftener weighs no more; null if none
--   score_sem  number  its standard error, clustered by game (clustered_sem); null below two games
--   score_low  0..1  lower end of its 95 % interval over games (clustered_low); null below two games
--   score_high  0..1  upper end
-- Reads: verdicts, verdicts_latest, episodes, run_conditions, outcomes, intervals.
create or replace macro judge_scores_by(split, levels := null) as table

-- each version of a rubric with a bit of its own: bits are put together far faster than lists of hashes
with numbered as (
    select
        rubric_hash,
        count(score) > 0 as has_scores,
        set_bit(repeat('0', (count(*) over ())::integer)::bit, (row_number() over (order by rubric_hash) - 1)::integer, 1) as mark
    from verdicts
    group by rubric_hash
),

by_unit as (
    select
        verdicts_latest.rubric,
        verdicts_latest.question,
        verdicts_latest.judge,
        verdicts_latest.variant,
        verdicts_latest.episode_id,
        verdicts_latest.turn,
        verdicts_latest.unit_id,
        bit_or(numbered.mark) as marks,
        count(*) as verdicts,
        count(verdicts_latest.score) as scored,
        avg(verdicts_latest.score) as score,
        count(*) filter (verdicts_latest.status = 'answered' and verdicts_latest.score is null) as unscored,
        count(*) filter (
            verdicts_latest.status = 'answered'
            and verdicts_latest.score is null
            and (numbered.has_scores or replace(lower(verdicts_latest.answer), '/', '') = 'na')
        ) as na,
        count(*) filter (verdicts_latest.rule is not null) as na_by_rule,
        count(verdicts_latest.reason_contradicts) as reasons,
        count(*) filter (
            verdicts_latest.reason_contradicts is not null
            and len(regexp_extract_all(verdicts_latest.reason, '\w+')) <= 2
        ) as bare_reasons,
        count(*) filter (verdicts_latest.reason_contradicts) as contradicting_reasons,
        count(*) filter (verdicts_latest.status = 'undecided') as undecided,
        count(*) filter (verdicts_latest.status = 'failed') as failed,
        count(*) filter (verdicts_latest.status = 'skipped') as skipped
    from verdicts_latest
    inner join numbered using (rubric_hash)
    group by all
),

clusters as (
    select
        by_unit.rubric,
        by_unit.question,
        by_unit.judge,
        by_unit.variant,
        by_unit.episode_id,
        case
            when not split then 'all'
            when by_unit.turn is null then 'episode'
            else outcomes.outcome
        end as outcome,
        bit_or(by_unit.marks) as marks,
        count(*) as units,
        sum(by_unit.verdicts)::bigint as verdicts,
        sum(by_unit.scored)::bigint as scored,
        count(by_unit.score) as scored_units,
        sum(by_unit.unscored)::bigint as unscored,
        sum(by_unit.na)::bigint as na,
        sum(by_unit.na_by_rule)::bigint as na_by_rule,
        sum(by_unit.reasons)::bigint as reasons,
        sum(by_unit.bare_reasons)::bigint as bare_reasons,
        sum(by_unit.contradicting_reasons)::bigint as contradicting_reasons,
        sum(by_unit.undecided)::bigint as undecided,
        sum(by_unit.failed)::bigint as failed,
        sum(by_unit.skipped)::bigint as skipped,
        coalesce(sum(by_unit.score), 0) as total
    from by_unit
    left join outcomes
        on split and by_unit.episode_id = outcomes.episode_id and by_unit.turn = outcomes.turn
    group by all
),

summed as (
    select
        clusters.rubric,
        clusters.question,
        clusters.judge,
        clusters.variant,
        episodes.benchmark,
        run_conditions.condition,
        episodes.model,
        clusters.outcome,
        bit_count(bit_or(clusters.marks)) as wordings,
        count(*) filter (clusters.scored > 0) as episodes,
        sum(clusters.units)::bigint as units,
        sum(clusters.verdicts)::bigint as verdicts,
        sum(clusters.scored)::bigint as scored,
        sum(clusters.scored_units)::bigint as scored_units,
        sum(clusters.unscored - clusters.na)::bigint as categorised,
        sum(clusters.na)::bigint as na,
        sum(clusters.na_by_rule)::bigint as na_by_rule,
        sum(clusters.reasons)::bigint as reasons,
        sum(clusters.bare_reasons)::bigint as bare_reasons,
        sum(clusters.contradicting_reasons)::bigint as contradicting_reasons,
        sum(clusters.undecided)::bigint as undecided,
        sum(clusters.failed)::bigint as failed,
        sum(clusters.skipped)::bigint as skipped,
        sum(clusters.total) / nullif(sum(clusters.scored_units), 0) as score_mean,
        sum(clusters.total) as total,
        sum(clusters.total * clusters.total) as totals_squared,
        sum(clusters.total * clusters.scored_units) as totals_by_units,
        sum(clusters.scored_units * clusters.scored_units) as units_squared
    from clusters
    inner join episodes using (episode_id)
    inner join run_conditions using (run_id)
    where levels is null or list_contains(levels, episodes.level)
    group by all
)

select
    * exclude (total, totals_squared, totals_by_units, units_squared),
    clustered_sem(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_sem,
    clustered_low(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_low,
    clustered_high(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_high
from summed;
