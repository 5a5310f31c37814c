-- judge_scores_by: how each judge answered each question; over the tasks of some tiers; a table macro: `from judge_scores_by(true)`.
-- One row is (rubric, question, judge, variant, benchmark, condition, model) and, if split, outcome.
-- Parameters: split: true for one row an outcome of the turn, false for all turns together; levels: list of the tiers that count, null for all.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   judge  text  `engine` or `llm:<model>`
--   variant  text  which walls were opened on purpose; null: none
--   benchmark  text  its benchmark
--   condition  text  the condition of the runs, as in run_conditions
--   model  text  the evaluated model
--   outcome  text  of the turn, as in outcomes; `episode` for units larger than a turn; `all` if not split
--   wordings  count  versions of the rubric (hashes of its content) among the verdicts: above 1, answers to different wordings are mixed
--   episodes  count  games with a scored answer: the clusters of score_sem
--   units  count  units put to the judge
--   verdicts  count  answers asked for: units times repeats; the sum of the six numbers that follow
--   scored  count  answers with a number
--   categorised  count  answered with a category, which has no number; not in score_mean
--   na  count  answered not applicable: `na`, or any answer without a number to a wording whose other answers have one; not in score_mean
--   undecided  count  the judge could not tell; not in score_mean
--   failed  count  no usable reply came; not in score_mean
--   skipped  count  the rubric does not apply to the unit; not in score_mean
--   score_mean  0..1  mean of the scored answers; null if there is none
--   score_sem  number  its standard error, clustered by game (Liang and Zeger 1986, with G/(G-1)); null below two games
-- Reads: verdicts, verdicts_latest, episodes, run_conditions, outcomes.
create or replace macro judge_scores_by(split, levels := null) as table

with numbered as (
    select distinct rubric_hash
    from verdicts
    where score is not null
),

clusters as (
    select
        verdicts_latest.rubric,
        verdicts_latest.question,
        verdicts_latest.judge,
        verdicts_latest.variant,
        verdicts_latest.episode_id,
        case
            when not split then 'all'
            when verdicts_latest.turn is null then 'episode'
            else outcomes.outcome
        end as outcome,
        list(distinct verdicts_latest.rubric_hash) as hashes,
        count(distinct verdicts_latest.unit_id) as units,
        count(*) as verdicts,
        count(verdicts_latest.score) as scored,
        count(*) filter (verdicts_latest.status = 'answered' and verdicts_latest.score is null) as unscored,
        count(*) filter (
            verdicts_latest.status = 'answered'
            and verdicts_latest.score is null
            and (numbered.rubric_hash is not null or replace(lower(verdicts_latest.answer), '/', '') = 'na')
        ) as na,
        count(*) filter (verdicts_latest.status = 'undecided') as undecided,
        count(*) filter (verdicts_latest.status = 'failed') as failed,
        count(*) filter (verdicts_latest.status = 'skipped') as skipped,
        coalesce(sum(verdicts_latest.score), 0) as total
    from verdicts_latest
    left join numbered using (rubric_hash)
    left join outcomes
        on split and verdicts_latest.episode_id = outcomes.episode_id and verdicts_latest.turn = outcomes.turn
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
        len(list_distinct(flatten(list(clusters.hashes)))) as wordings,
        count(*) filter (clusters.scored > 0) as episodes,
        sum(clusters.units)::bigint as units,
        sum(clusters.verdicts)::bigint as verdicts,
        sum(clusters.scored)::bigint as scored,
        sum(clusters.unscored - clusters.na)::bigint as categorised,
        sum(clusters.na)::bigint as na,
        sum(clusters.undecided)::bigint as undecided,
        sum(clusters.failed)::bigint as failed,
        sum(clusters.skipped)::bigint as skipped,
        sum(clusters.total) / nullif(sum(clusters.scored), 0) as score_mean,
        sum(clusters.total * clusters.total) as totals_squared,
        sum(clusters.total * clusters.scored) as totals_by_scored,
        sum(clusters.scored * clusters.scored) as scored_squared
    from clusters
    inner join episodes using (episode_id)
    inner join run_conditions using (run_id)
    where levels is null or list_contains(levels, episodes.level)
    group by all
)

select
    * exclude (totals_squared, totals_by_scored, scored_squared),
    case
        when episodes > 1 then sqrt(
            greatest(0, totals_squared - 2 * score_mean * totals_by_scored + score_mean * score_mean * scored_squared)
            * episodes / (episodes - 1)
        ) / scored
    end as score_sem
from summed;
