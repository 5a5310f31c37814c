-- agreement: how far a judge agrees with labels, with another judge, and with itself.
-- One row is (rubric, question, kind, rater_a, variant_a, rater_b, variant_b). The counts of single answers: agreement_confusion.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   kind  text  label_judge, judge_judge or self, as in answer_pairs
--   rater_a  text  the labels' source, or a judge
--   variant_a  text  variant of that judge; null: none, or labels
--   rater_b  text  the judge
--   variant_b  text  variant of that judge; null: none
--   pairs  count  pairs of answers asked for
--   n  count  pairs in which both answered (N/A is an answer)
--   undecided  count  other pairs in which one could not tell; in no rate
--   failed  count  other pairs in which no usable reply came from one; in no rate
--   skipped  count  other pairs in which the rubric did not apply for one; in no rate
--   coverage  0..1  n / pairs
--   agreed  count  pairs of equal answers
--   agreement  0..1  agreed / n; null if n is 0
--   agreement_low  0..1  lower end of its 95 % interval over games (clustered_low); null if n is 0, and below two games
--   agreement_high  0..1  upper end; null if n is 0
--   expected  0..1  agreement by chance, from both raters' own shares of each answer; null if n is 0
--   kappa  -1..1  unweighted Cohen kappa over all answers, N/A included; null if n is 0 or both always gave one and the same answer
-- Reads: answer_pairs, intervals.
create or replace view agreement as

with counted as materialized (
    select
        rubric,
        question,
        kind,
        rater_a,
        coalesce(variant_a, '') as variant_a,
        rater_b,
        coalesce(variant_b, '') as variant_b,
        answer_a,
        answer_b,
        status_a,
        status_b,
        episode_id,
        count(*) as n
    from answer_pairs
    group by all
),

by_game as (
    select
        rubric,
        question,
        kind,
        rater_a,
        variant_a,
        rater_b,
        variant_b,
        episode_id,
        sum(n) as size,
        coalesce(sum(n) filter (answer_a = answer_b), 0) as agreed
    from counted
    where status_a = 'answered' and status_b = 'answered'
    group by all
),

per_game as (
    select
        rubric,
        question,
        kind,
        rater_a,
        variant_a,
        rater_b,
        variant_b,
        count(*) as games,
        sum(agreed * agreed) as agreed_squared,
        sum(agreed * size) as agreed_by_sizes,
        sum(size * size) as sizes_squared
    from by_game
    group by all
),

pairs as (
    select
        rubric,
        question,
        kind,
        rater_a,
        variant_a,
        rater_b,
        variant_b,
        sum(n)::bigint as pairs,
        coalesce(sum(n) filter (status_a = 'answered' and status_b = 'answered'), 0)::bigint as n,
        coalesce(sum(n) filter ('failed' in (status_a, status_b)), 0)::bigint as failed,
        coalesce(
            sum(n) filter ('failed' not in (status_a, status_b) and 'undecided' in (status_a, status_b)), 0
        )::bigint as undecided,
        coalesce(
            sum(n) filter (
                'failed' not in (status_a, status_b) and 'undecided' not in (status_a, status_b) and 'skipped' in (status_a, status_b)
            ),
            0
        )::bigint as skipped,
        coalesce(sum(n) filter (answer_a = answer_b), 0)::bigint as agreed
    from counted
    group by rubric, question, kind, rater_a, variant_a, rater_b, variant_b
),

confusion as (
    select * from counted where answer_a is not null and answer_b is not null
),

by_a as (
    select rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a as answer, sum(n) as n
    from confusion
    group by all
),

by_b as (
    select rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_b as answer, sum(n) as n
    from confusion
    group by all
),

chance as (
    select rubric, question, kind, rater_a, variant_a, rater_b, variant_b, sum(by_a.n * by_b.n)::double as products
    from by_a
    inner join by_b using (rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer)
    group by all
),

rated as (
    select
        pairs.*,
        per_game.games,
        per_game.agreed_squared,
        per_game.agreed_by_sizes,
        per_game.sizes_squared,
        agreed / nullif(n, 0) as agreement,
        case when n > 0 then coalesce(products, 0) / (n * n) end as expected
    from pairs
    left join chance using (rubric, question, kind, rater_a, variant_a, rater_b, variant_b)
    left join per_game using (rubric, question, kind, rater_a, variant_a, rater_b, variant_b)
)

select
    rubric,
    question,
    kind,
    rater_a,
    nullif(variant_a, '') as variant_a,
    rater_b,
    nullif(variant_b, '') as variant_b,
    pairs,
    n,
    undecided,
    failed,
    skipped,
    n / pairs as coverage,
    agreed,
    agreement,
    clustered_low(agreed, nullif(n, 0), games, agreed_squared, agreed_by_sizes, sizes_squared) as agreement_low,
    clustered_high(agreed, nullif(n, 0), games, agreed_squared, agreed_by_sizes, sizes_squared) as agreement_high,
    expected,
    (agreement - expected) / nullif(1 - expected, 0) as kappa
from rated;
