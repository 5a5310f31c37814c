-- answer_pairs: two raters' answers to one question about one thing, side by side.
-- One row is a pair: a label and a verdict, or two verdicts. Every answer of one rater meets every answer of the other. Judges are paired with
-- themselves too, over repeats.
create or replace view answer_pairs as
with verdict_answers as (
    select
        rubric, question,
        judge as rater,
        variant,
        coalesce(variant, '') as variant_order,
        episode_id, turn, agent, unit_id, repeat,
        replace(lower(answer), '/', '') as answer,
        status
    from verdicts_latest
),

label_answers as (
    select
        labels.rubric, labels.question,
        labels.source as rater,
        labels.episode_id, labels.turn, labels.agent,
        replace(lower(labels.answer), '/', '') as answer
    from labels
    inner join episodes using (episode_id)
    -- answers of judges that came in a label file are for `cotrace report agreement`
    where not starts_with(labels.annotator, 'llm:')
),

with_labels as (
    select
        l.rubric, l.question,
        'label_judge' as kind,
        l.rater as rater_a,
        null::varchar as variant_a,
        v.rater as rater_b,
        v.variant as variant_b,
        l.episode_id, l.turn, l.agent,
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
        a.rubric, a.question,
        case when a.rater = b.rater and a.variant_order = b.variant_order then 'self' else 'judge_judge' end as kind,
        a.rater as rater_a,
        a.variant as variant_a,
        b.rater as rater_b,
        b.variant as variant_b,
        a.episode_id, a.turn, a.agent,
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

-- pair_preferences: which of two games a judge prefers, asked in both orders.
-- One row is (rubric, question, judge, variant, repeat, episode_a, episode_b), the episode whose id comes first being a.
-- Report: pairs, ordered by rubric, question, judge, variant, episode_a, episode_b, repeat
-- Shows: question, judge, episode_a, episode_b, score_a, consistent
create or replace view pair_preferences as
with placed as (
    select
        rubric, question, judge, variant, repeat,
        least(split_part(unit_id, ' vs ', 1), split_part(unit_id, ' vs ', 2)) as episode_a,
        greatest(split_part(unit_id, ' vs ', 1), split_part(unit_id, ' vs ', 2)) as episode_b,
        unit_id, score
    from verdicts_latest
    where contains(unit_id, ' vs ')
),

both_orders as (
    select
        rubric, question, judge, variant, repeat, episode_a, episode_b,
        max(score) filter (starts_with(unit_id, episode_a || ' vs ')) as score_a_first,
        1 - max(score) filter (starts_with(unit_id, episode_b || ' vs ')) as score_a_second
    from placed
    group by all
)

select
    both_orders.rubric, both_orders.question, both_orders.judge, both_orders.variant, both_orders.repeat,
    both_orders.episode_a, both_orders.episode_b,
    a.model as model_a,
    b.model as model_b,
    both_orders.score_a_first, both_orders.score_a_second,
    (both_orders.score_a_first + both_orders.score_a_second) / 2 as score_a,
    sign(both_orders.score_a_first - 0.5) = sign(both_orders.score_a_second - 0.5) as consistent,
    (both_orders.score_a_first - both_orders.score_a_second) / 2 as leans_first
from both_orders
inner join episodes as a on both_orders.episode_a = a.episode_id
inner join episodes as b on both_orders.episode_b = b.episode_id;

-- panel_of: the answers of all model judges about each unit of the chosen games: majority, mean, and how much they differ; a table macro.
-- One row is (rubric, question, variant, unit_id) with at least one answer of a model. Every model has one vote, which its repeats share: asking
-- one model more often gives it no more weight. The engine has none.
-- Parameters: about: only this rubric, null for all; chosen: condition on the columns of `games`, true for all of them; most: only so many units on
-- which the votes differ, those that differ most; null for all units.
create or replace macro panel_of(about := null, chosen := true, most := null) as table
-- units by the hash of their names: names are long, and the same ones are compared several times
with asked as materialized (
    select
        rubric, question, coalesce(variant, '') as variant, hash(unit_id) as unit, unit_id, episode_id, turn, agent, judge, repeat, score,
        replace(lower(answer), '/', '') as plain
    from verdicts_latest
    where
        status = 'answered' and starts_with(judge, 'llm:') and (about is null or rubric = about)
        and episode_id in (select episode_id from games where chosen)
),

by_judge as (
    select
        rubric, question, variant, unit, judge,
        count(*) as answers,
        min(plain) as least,
        max(plain) as greatest,
        avg(score) as score
    from asked
    group by all
),

units as (
    select
        rubric, question, variant, unit,
        count(*) as judges,
        sum(answers)::bigint as answers,
        avg(score) as score_mean,
        case when min(least) = max(greatest) then 'none' when bool_and(least = greatest) then 'judges' else 'repeats' end as split
    from by_judge
    group by all
),

counted as (
    select asked.rubric, asked.question, asked.variant, asked.unit, asked.plain, round(sum(1 / by_judge.answers), 6) as n
    from asked
    inner join by_judge using (rubric, question, variant, unit, judge)
    semi join (from units where most is null or split <> 'none') as units using (rubric, question, variant, unit)
    group by all
),

voted as (
    select rubric, question, variant, unit, sum(n) as total, greatest(log2(sum(n)) - sum(n * log2(n)) / sum(n), 0) as entropy
    from counted
    group by all
    order by entropy desc, question, unit
    limit coalesce(most, 9007199254740992)
),

votes as (
    select
        rubric, question, variant, unit,
        string_agg(plain || ' ' || printf('%g', round(n, 2)), ', ' order by n desc, plain) as votes,
        max(n) as leading,
        arg_max(plain, (n, plain)) as plain,
        list(n) as numbers
    from counted
    semi join voted using (rubric, question, variant, unit)
    group by all
),

of_judges as (
    select
        rubric, question, variant, unit, judge,
        any_value(unit_id) as unit_id,
        any_value(episode_id) as episode_id,
        any_value(turn) as turn,
        any_value(agent) as agent,
        string_agg(plain, ' ' order by repeat) as own
    from asked
    semi join voted using (rubric, question, variant, unit)
    group by all
),

raters as (
    select
        rubric, question, variant, unit,
        any_value(columns(of_judges.* exclude (rubric, question, variant, unit, judge, own))),
        string_agg(judge || ': ' || own, ' | ' order by judge) as said
    from of_judges
    group by all
)

select
    rubric, question, nullif(variant, '') as variant, raters.unit_id, raters.episode_id, raters.turn, raters.agent, units.judges, units.answers,
    votes.votes,
    case when len(list_filter(votes.numbers, lambda n: n = votes.leading)) = 1 then votes.plain end as majority,
    votes.leading / voted.total as majority_share,
    units.score_mean, voted.entropy, units.split, raters.said
from voted
inner join units using (rubric, question, variant, unit)
inner join votes using (rubric, question, variant, unit)
inner join raters using (rubric, question, variant, unit);

-- panel: the answers of all model judges about a unit: majority, mean, and how much they differ.
-- One row is (rubric, question, variant, unit_id) with at least one answer of a model.
-- Columns as in: panel_of.
-- Report: panel, ordered by rubric, question, variant, unit_id
-- Shows: question, unit_id, judges, votes, majority, entropy
create or replace view panel as
select * exclude (said) from panel_of();

-- panel_disagreements: units on which the model judges differ, with the answers of each.
-- One row is (rubric, question, variant, unit_id) whose votes are not all the same.
-- Columns as in: panel_of.
-- Report: panel-disagreements, ordered by entropy desc, rubric, question, variant, unit_id
-- Shows: question, unit_id, judges, votes, entropy
create or replace view panel_disagreements as
select * from panel_of() where split <> 'none';

-- panel_splits: on how many units of the chosen games the votes of model judges differ, in which way; a table macro.
-- One row is (rubric, question, split), of units with two answers or more.
-- Parameters: chosen: condition on the columns of `games`, true for all of them; about: only this rubric, null for all.
-- Report: panel-splits, ordered by rubric, question, split
create or replace macro panel_splits(chosen := true, about := null) as table
with by_judge as (
    select
        rubric, question, coalesce(variant, '') as variant, hash(unit_id) as unit, judge,
        count(*) as answers,
        min(replace(lower(answer), '/', '')) as least,
        max(replace(lower(answer), '/', '')) as greatest
    from verdicts_latest
    where
        status = 'answered' and starts_with(judge, 'llm:') and (about is null or rubric = about)
        and episode_id in (select episode_id from games where chosen)
    group by all
),

of_units as (
    select
        rubric, question,
        case when min(least) = max(greatest) then 'none' when bool_and(least = greatest) then 'judges' else 'repeats' end as split
    from by_judge
    group by rubric, question, variant, unit
    having sum(answers) > 1
)

select rubric, question, split, count(*) as units, count(*) / sum(count(*)) over (partition by rubric, question) as share
from of_units
group by rubric, question, split;

-- agreement: how far a judge agrees with labels, with another judge, and with itself.
-- One row is (rubric, question, kind, rater_a, variant_a, rater_b, variant_b). The counts of single answers: agreement_confusion.
create or replace view agreement as
with counted as materialized (
    select
        rubric, question, kind, rater_a,
        coalesce(variant_a, '') as variant_a,
        rater_b,
        coalesce(variant_b, '') as variant_b,
        answer_a, answer_b, status_a, status_b, episode_id,
        count(*) as n
    from answer_pairs
    group by all
),

by_game as (
    select
        rubric, question, kind, rater_a, variant_a, rater_b, variant_b, episode_id,
        sum(n) as size,
        coalesce(sum(n) filter (answer_a = answer_b), 0) as agreed
    from counted
    where status_a = 'answered' and status_b = 'answered'
    group by all
),

per_game as (
    select
        rubric, question, kind, rater_a, variant_a, rater_b, variant_b,
        count(*) as games,
        sum(agreed * agreed) as agreed_squared,
        sum(agreed * size) as agreed_by_sizes,
        sum(size * size) as sizes_squared
    from by_game
    group by all
),

pairs as (
    select
        rubric, question, kind, rater_a, variant_a, rater_b, variant_b,
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
        per_game.games, per_game.agreed_squared, per_game.agreed_by_sizes, per_game.sizes_squared,
        agreed / nullif(n, 0) as agreement,
        case when n > 0 then coalesce(products, 0) / (n * n) end as expected
    from pairs
    left join chance using (rubric, question, kind, rater_a, variant_a, rater_b, variant_b)
    left join per_game using (rubric, question, kind, rater_a, variant_a, rater_b, variant_b)
)

select
    rubric, question, kind, rater_a,
    nullif(variant_a, '') as variant_a,
    rater_b,
    nullif(variant_b, '') as variant_b,
    pairs, n, undecided, failed, skipped,
    n / pairs as coverage,
    agreed, agreement,
    clustered_low(agreed, nullif(n, 0), games, agreed_squared, agreed_by_sizes, sizes_squared) as agreement_low,
    clustered_high(agreed, nullif(n, 0), games, agreed_squared, agreed_by_sizes, sizes_squared) as agreement_high,
    expected,
    (agreement - expected) / nullif(1 - expected, 0) as kappa
from rated;

-- agreement_confusion: how often each pair of answers occurs between two raters.
-- One row is (rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, answer_b) that occurs.
-- Report: confusion, ordered by rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, n desc, answer_b
-- Shows: question, rater_a, rater_b, answer_a, answer_b, n
create or replace view agreement_confusion as
select rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, answer_b, count(*) as n
from answer_pairs
where answer_a is not null and answer_b is not null
group by all;

-- unit_answers: what all raters together answered about each unit of games and of label files, once for each question.
-- One row is (episode_id, rubric, question, unit_id).
-- Read by judged game:
create or replace view unit_answers as
with taken as (
    select
        coalesce(episode_id, regexp_replace(unit_key, '(/.*|_[0-9]+)$', '')) as episode_id,
        rubric, question, annotator, source, imported_at, score, turn, agent, sampling_probability,
        translate(replace(lower(answer), '/', ''), chr(30) || chr(31), '  ') as answer,
        case
            when starts_with(annotator, 'llm:') then split_part(annotator, '#', 1)
            when source = 'planted' or starts_with(source, 'planted:') then 'planted truth'
            else 'people'
        end as rater,
        case when episode_id is null or starts_with(unit_key, episode_id) then unit_key else concat_ws('/', episode_id, turn, agent) end as unit_id
    from unmaterialized('labels') as labels
),

-- whose answers may have come from two sources; of others each is the only one of its unit, and comparing them would take most of the time
several as (
    select rubric, annotator
    from unmaterialized('labels') as labels
    group by all
    having min(source) != max(source) or not bool_and(episode_id is null or starts_with(unit_key, episode_id))
),

labelled as (
    select * from taken where (rubric, annotator) not in (select (rubric, annotator) from several)
    union all
    -- one person's answer that came from two sources, such as a page and its export, is one answer: the one that came last
    select * from taken where (rubric, annotator) in (select (rubric, annotator) from several)
    qualify row_number() over (
        partition by episode_id, rubric, question, rater, annotator, unit_id order by imported_at desc nulls last, source
    ) = 1
),

given as (
    -- N/A as planted truth: the truth is not determined (docs/labels.md); PS6 alone has N/A as a true answer
    -- characters 30 and 31 part answers below; one that has them itself has blanks there
    select
        episode_id, rubric, question, unit_id, turn, agent,
        concat_ws(chr(31), rater, answer, score) as given,
        case
            when rater = 'people' then concat_ws(
                chr(31), rater, answer, coalesce(score::varchar, ''), translate(annotator, chr(30) || chr(31), '  '),
                coalesce(sampling_probability::varchar, ''), case
                    when source = 'dashboard:disagreements' then 'disagreement'
                    when sampling_probability is not null or source = 'dashboard' then 'sample'
                    else 'unknown'
                end
            )
        end as detail
    from labelled
    where rater != 'planted truth' or answer != 'na' or question = 'PS6'
    union all
    select
        episode_id, rubric, question, unit_id, turn, agent,
        concat_ws(chr(31), rater, answer, score) as given,
        case when probability is not null then concat_ws(chr(31), rater, coalesce(answer, ''), coalesce(score::varchar, ''), '', probability) end as detail
    from (
        select
            episode_id, rubric, question, unit_id, turn, agent, probability,
            translate(judge || coalesce(' (' || variant || ')', ''), chr(30) || chr(31), '  ') as rater,
            case when status = 'answered' then translate(replace(lower(answer), '/', ''), chr(30) || chr(31), '  ') end as answer,
            case when status = 'answered' then score end as score
        from unmaterialized('verdicts_latest') as verdicts_latest
    ) as verdicts
),

of_units as (
    select
        episode_id, rubric, question,
        any_value(unit_id) as unit_id,
        any_value(turn) as turn,
        any_value(agent) as agent,
        array_to_string(list_sort(list(given)), chr(30)) as answers,
        coalesce(array_to_string(list_sort(list(detail) filter (where detail is not null)), chr(30)), '') as details
    from given
    group by episode_id, rubric, question, hash(unit_id)
),

spoken as (
    select episode_id, turn, agent, sum(length(text)) as length from unmaterialized('utterances') as utterances group by all
)

select of_units.*, case when spoken.length is not null then least(ln(1 + spoken.length) / ln(1 + 10000), 1) end as length
from of_units
left join spoken using (episode_id, turn, agent);

-- game_answers: in which ways all raters together answered the questions about a game, and how many of its units were answered in each.
-- One row is (episode_id, rubric, question, answers, details), twice where the turn or the length of some units alone is known.
-- Materialized: by judged game
create or replace view game_answers as
select
    episode_id, rubric, question, answers, details,
    count(*) as units,
    sum(turn)::bigint as turns,
    sum(turn * turn)::bigint as squared_turns,
    max(turn) as last_turn,
    sum(length) as lengths,
    histogram(agent) as agents
from unmaterialized('unit_answers') as unit_answers
group by episode_id, rubric, question, answers, details, turn is null, length is null;
