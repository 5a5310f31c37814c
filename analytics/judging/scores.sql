-- answer_rates: which share of its answers each scoring job gave to each answer; probes left out.
-- One row is (judge_run_id, question, answer), also with a count of 0 where another job of the same rubric, wording and judge gave that answer.
create or replace view answer_rates as
with given as (
    select
        v.rubric, v.rubric_hash, v.question, v.judge, v.variant, v.judge_run_id, v.episode_id,
        replace(lower(v.answer), '/', '') as answer,
        count(*) as n
    from verdicts as v
    where v.status = 'answered' and (v.variant is null or not starts_with(v.variant, 'probe:'))
    group by all
),

sizes as (
    select
        rubric, rubric_hash, question, judge, variant, judge_run_id, episode_id,
        sum(n) as answered
    from given
    group by all
),

jobs as (
    select
        rubric, rubric_hash, question, judge, variant, judge_run_id,
        sum(answered) as answered,
        sum(answered * answered) as answered_squared,
        count(*) as games
    from sizes
    group by all
),

used as (
    select distinct
        rubric, rubric_hash, question, judge, variant, answer
    from given
),

counted as (
    select
        given.judge_run_id, given.question, given.answer,
        sum(given.n) as n,
        sum(given.n * given.n) as n_squared,
        sum(given.n * sizes.answered) as n_by_answered
    from given
    inner join sizes
        on given.judge_run_id = sizes.judge_run_id
        and given.question = sizes.question
        and given.episode_id = sizes.episode_id
        and given.rubric_hash = sizes.rubric_hash
    group by all
),

measured as (
    select
        jobs.*,
        used.answer,
        coalesce(counted.n, 0)::double as n,
        coalesce(counted.n_squared, 0)::double as n_squared,
        coalesce(counted.n_by_answered, 0)::double as n_by_answered
    from jobs
    inner join used
        on jobs.rubric = used.rubric
        and jobs.rubric_hash = used.rubric_hash
        and jobs.question = used.question
        and jobs.judge = used.judge
        and jobs.variant is not distinct from used.variant
    left join counted
        on jobs.judge_run_id = counted.judge_run_id and jobs.question = counted.question and used.answer = counted.answer
)

select
    m.rubric, m.rubric_hash, m.question, m.judge, m.variant, m.judge_run_id, judge_runs.started_at, m.answer,
    m.n::bigint as n,
    m.answered::bigint as answered,
    m.games,
    m.n / m.answered as rate,
    clustered_low(m.n, m.answered, m.games, m.n_squared, m.n_by_answered, m.answered_squared) as rate_low,
    clustered_high(m.n, m.answered, m.games, m.n_squared, m.n_by_answered, m.answered_squared) as rate_high
from measured as m
inner join judge_runs using (judge_run_id);

-- answer_shares: how often each judge gave each answer, over all chosen games; an answer can name several; a table macro.
-- One row is (rubric, question, judge, variant, answer), of what was answered and not of probes.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: answers, ordered by rubric, question, judge, variant, share desc, answer
create or replace macro answer_shares(chosen := true) as table
with judged as (
    select rubric, question, judge, coalesce(variant, '') as variant, episode_id, answer, score is not null as has_score
    from verdicts_latest
    where status = 'answered' and episode_id in (select episode_id from games where chosen)
),

sizes as (
    select rubric, question, judge, variant, episode_id, count(*) as size
    from judged
    group by all
),

totals as (
    select rubric, question, judge, variant, count(*) as games, sum(size) as answered, sum(size * size) as sizes_squared
    from sizes
    group by all
),

hits as (
    select rubric, question, judge, variant, episode_id, unnest(string_split(answer, '|')) as answer, has_score
    from judged
),

counted as (
    select rubric, question, judge, variant, episode_id, answer, has_score, count(*) as n
    from hits
    group by all
),

sums as (
    select
        rubric, question, judge, variant, answer,
        bool_or(has_score) as has_score,
        sum(n)::bigint as n,
        sum(n * n) as n_squared,
        sum(n * size) as n_by_sizes
    from counted
    inner join sizes using (rubric, question, judge, variant, episode_id)
    group by all
)

select
    rubric, question, judge,
    nullif(variant, '') as variant,
    answer, has_score, n, answered::bigint as answered, games,
    n / answered as share,
    clustered_low(n, answered, games, n_squared, n_by_sizes, sizes_squared) as share_low,
    clustered_high(n, answered, games, n_squared, n_by_sizes, sizes_squared) as share_high
from sums
inner join totals using (rubric, question, judge, variant);

-- flagged_units: units whose text tries to speak to the judge, and what the judges answered about them.
-- One row is (unit_id, flagged): a unit and what was found in the text that judges were shown.
-- Report: flagged, ordered by unit_id, flagged
-- Shows: unit_id, flagged, model, verdicts, score_mean, score_mean_others
create or replace view flagged_units as
with scored as (
    select
        v.*,
        e.model
    from verdicts_latest as v
    inner join episodes as e on v.episode_id = e.episode_id
),

clean as (
    select
        rubric, model,
        sum(score) as total,
        count(score) as n
    from scored
    where flagged is null
    group by all
),

found as (
    select
        unit_id, flagged,
        any_value(episode_id) as episode_id,
        any_value(turn) as turn,
        any_value(agent) as agent,
        model,
        list(distinct rubric) as shown_under,
        count(*) as verdicts,
        avg(score) as score_mean
    from scored
    where flagged is not null
    group by unit_id, flagged, model
)

select
    found.unit_id, found.flagged, found.episode_id, found.turn, found.agent, found.model,
    len(found.shown_under) as rubrics,
    found.verdicts, found.score_mean,
    (
        select sum(clean.total) / nullif(sum(clean.n), 0)
        from clean
        where clean.model = found.model and list_contains(found.shown_under, clean.rubric)
    ) as score_mean_others
from found;

-- judge_flags: how often the text that judges were shown tries to speak to them, and how they scored it, over the chosen games; a table macro.
-- One row is (rubric, judge, flag), with a row `none` for each judge that met any.
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Report: flags, ordered by rubric, judge, flag = 'none', flag
create or replace macro judge_flags(chosen := true) as table
with met as (
    select distinct rubric, judge
    from verdicts_latest
    where flagged is not null and episode_id in (select episode_id from games where chosen)
),

shown as (
    select rubric, judge, unnest(string_split(coalesce(flagged, 'none'), '|')) as flag, unit_id, score
    from verdicts_latest
    semi join met using (rubric, judge)
    where episode_id in (select episode_id from games where chosen)
)

select rubric, judge, flag, count(distinct unit_id) as units, count(*) as verdicts, avg(score) as score_mean
from shown
group by all;

-- judged_units: the valid verdicts, each with its game; columns that both have are named after their owner.
-- One row is (rubric, question, judge, variant, unit_id, repeat), as in verdicts_latest.
create or replace view judged_units as
select
    verdicts_latest.rubric, verdicts_latest.question, verdicts_latest.judge, verdicts_latest.variant,
    verdicts_latest.unit_id, verdicts_latest.repeat, verdicts_latest.episode_id, verdicts_latest.turn,
    verdicts_latest.agent, verdicts_latest.answer,
    verdicts_latest.score as verdict_score,
    verdicts_latest.status as verdict_status,
    verdicts_latest.reason as verdict_reason,
    games.benchmark, team_names.team_name, games.condition,
    games.model as game_model,
    games.task_id, games.level, games.ending,
    games.score as game_score,
    games.success as game_success
from verdicts_latest
inner join games on verdicts_latest.episode_id = games.episode_id
left join team_names on games.episode_id = team_names.episode_id;

-- judge_scores_by: how each judge answered each question, by team or over all chosen games; a table macro: `from judge_scores_by(true)`.
-- One row is (rubric, question, judge, variant, benchmark, condition, model, team) and, if split, outcome.
-- Parameters: split: true for one row an outcome of the turn, false for all turns together; chosen: condition on the columns of `games`, true for
-- all of them; per: `team`, `model` for all teams of a model together, `question` for all games together; columns that are not split by are null.
create or replace macro judge_scores_by(split, chosen := true, per := 'model') as table
-- each version of a rubric with a bit of its own: bits are put together far faster than lists of hashes
with numbered as (
    select
        rubric_hash,
        count(score) > 0 as has_scores,
        set_bit(repeat('0', (count(*) over ())::integer)::bit, (row_number() over (order by rubric_hash) - 1)::integer, 1) as mark
    from verdicts
    group by rubric_hash
),

of_game as (
    select
        episode_id,
        case when per <> 'question' then benchmark end as benchmark,
        case when per <> 'question' then condition end as condition,
        case when per <> 'question' then model end as model,
        case when per = 'team' then team::varchar end as team
    from games
    where chosen
),

-- telling millions of units apart by name takes most of the time: it is done only where somebody was asked twice
asked_again as (
    select distinct rubric, judge, coalesce(variant, '') as variant
    from verdicts
    where repeat > 1
),

by_unit as (
    select
        verdicts_latest.rubric, verdicts_latest.question, verdicts_latest.judge, verdicts_latest.variant,
        verdicts_latest.episode_id, verdicts_latest.turn,
        case when asked_again.rubric is not null then verdicts_latest.unit_id end as unit,
        bit_or(numbered.mark) as marks,
        count(*) as verdicts,
        count(verdicts_latest.score) as scored,
        sum(verdicts_latest.score) as score,
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
    left join asked_again
        on verdicts_latest.rubric = asked_again.rubric
        and verdicts_latest.judge = asked_again.judge
        and coalesce(verdicts_latest.variant, '') = asked_again.variant
    where verdicts_latest.episode_id in (select of_game.episode_id from of_game)
    group by all
),

-- in other games nothing is known of how a turn compares with candidates
lists_candidates as (
    select distinct episode_id
    from turns
    where oracle_available
),

clusters as (
    select
        by_unit.rubric, by_unit.question, by_unit.judge, by_unit.variant, by_unit.episode_id, case
            when not split then 'all'
            when by_unit.turn is null then 'episode'
            when lists_candidates.episode_id is null then 'not_classified'
            else outcomes.outcome
        end as outcome,
        bit_or(by_unit.marks) as marks,
        sum(case when by_unit.unit is null then by_unit.verdicts else 1 end)::bigint as units,
        sum(by_unit.verdicts)::bigint as verdicts,
        sum(by_unit.scored)::bigint as scored,
        sum(case when by_unit.unit is null then by_unit.scored else least(by_unit.scored, 1) end)::bigint as scored_units,
        sum(by_unit.unscored - by_unit.na)::bigint as categorised,
        sum(columns(by_unit.* exclude (
            rubric, question, judge, variant, episode_id, turn, unit, marks, verdicts, scored, score, unscored
        )))::bigint,
        coalesce(sum(by_unit.score / case when by_unit.unit is null then 1 else by_unit.scored end), 0) as total
    from by_unit
    left join outcomes
        on split and by_unit.episode_id = outcomes.episode_id and by_unit.turn = outcomes.turn
    left join lists_candidates on by_unit.episode_id = lists_candidates.episode_id
    group by all
),

summed as (
    select
        clusters.rubric, clusters.question, clusters.judge, clusters.variant, of_game.benchmark,
        of_game.condition, of_game.model, of_game.team, clusters.outcome,
        bit_count(bit_or(clusters.marks)) as wordings,
        count(*) filter (clusters.scored > 0) as episodes,
        sum(columns(clusters.* exclude (rubric, question, judge, variant, episode_id, outcome, marks, total)))::bigint,
        sum(clusters.total) / nullif(sum(clusters.scored_units), 0) as score_mean,
        sum(clusters.total) as total,
        sum(clusters.total * clusters.total) as totals_squared,
        sum(clusters.total * clusters.scored_units) as totals_by_units,
        sum(clusters.scored_units * clusters.scored_units) as units_squared
    from clusters
    inner join of_game using (episode_id)
    group by all
)

select
    * exclude (total, totals_squared, totals_by_units, units_squared),
    clustered_sem(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_sem,
    clustered_low(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_low,
    clustered_high(total, scored_units, episodes, totals_squared, totals_by_units, units_squared) as score_high
from summed;

-- judge_scores: how each judge answered each question, by evaluated model and by what became of the turn.
-- One row is (rubric, question, judge, variant, benchmark, condition, model, outcome).
-- Columns as in: judge_scores_by.
create or replace view judge_scores as
select * exclude (team) from judge_scores_by(true);

-- judge_scores_models: how each judge answered each question, by evaluated model, over all turns.
-- One row is (rubric, question, judge, variant, benchmark, condition, model).
-- Columns as in: judge_scores_by.
-- Report: judges, ordered by rubric, question, judge, variant, model, condition
-- Shows: rubric, question, judge, model, units, scored_units, score_mean, na, undecided, failed, bare_reasons, contradicting_reasons
create or replace view judge_scores_models as
select * exclude (team, outcome) from judge_scores_by(false);

-- judged_questions: how each judge answered each question over all chosen games, by what became of the turn; a table macro.
-- One row is (rubric, question, judge, variant, outcome).
-- Parameters: chosen: condition on the columns of `games`, true for all of them.
-- Columns as in: judge_scores_by.
-- Report: judged-questions, ordered by rubric, question, judge, variant, outcome
-- Shows: rubric, question, judge, outcome, units, scored_units, score_mean, na, undecided, failed
create or replace macro judged_questions(chosen := true) as table
select * exclude (benchmark, condition, model, team) from judge_scores_by(true, chosen := chosen, per := 'question');
