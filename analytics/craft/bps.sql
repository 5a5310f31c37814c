-- craft_model_groups: which published models are frontier, which are open-weight, and which reason before they answer; a table of data.
-- One row is a model of the paper.
create or replace view craft_model_groups as
select model, model_group, reasoning::boolean as reasoning from rows_of('model_groups.csv');

-- model_key: a model's name without provider, blanks and signs, in small letters.
-- Macros: model_key(name).
create or replace macro model_key(name) as regexp_replace(lower(split_part(name, '/', -1)), '[^a-z0-9]', '', 'g');

-- bps_failures: which part of CRAFT's bounded pragmatic speaker failed: a director's search, its inference, or its pragmatics (section 3.1).
-- The truth table (docs/remove_gap.md): a reasoning without ground is limited_search (F1); grounded and not transferred is inefficient_inference
-- (F3); grounded, transferred and not modelled is flawed_pragmatics (F2); all three hold is none. What an unknown part leaves open is undecided.
-- One row is (episode_id, turn, agent, judge): a turn of a director, by a judge who was asked about it in both rubrics.
-- Read by judged game:
create or replace view bps_failures as
with given as (
    select
        episode_id, turn, agent, judge, rubric, question, answer, score,
        status = 'answered' as is_answered,
        reason like '%not understood%' as is_unread
    from unmaterialized('verdicts_latest') as verdicts_latest
    where variant is null and agent is not null
    union all
    select episode_id, turn, agent, 'label: ' || annotator as judge, rubric, question, answer, score, true as is_answered, false as is_unread
    from unmaterialized('labels') as labels
    where episode_id is not null and agent is not null
),

answers as (
    select
        episode_id, turn, agent, judge, question,
        -- the mean of repeats: a half, such as one yes and one no, decides nothing
        avg(case when is_answered and lower(answer) not in ('na', 'n/a') then coalesce(score, 0.5) end) as score,
        bool_and(is_answered and lower(answer) in ('na', 'n/a')) as is_na,
        coalesce(bool_or(not is_answered and is_unread), false) as is_unread
    from given
    where rubric = 'mind_modeling' or (rubric = 'spatial_grounding' and question in ('SG1', 'SG4'))
    group by all
),

parts as (
    select
        episode_id, turn, agent, judge,
        max(case when score > 0.5 then true when score < 0.5 then false end) filter (question = 'SG1') as grounded,
        max(case when score > 0.5 then true when score < 0.5 then false end) filter (question = 'MM4') as transferred,
        max(score) filter (question = 'SG4') as listed,
        max(score) filter (question = 'MM6') as specified,
        count(*) filter (is_other) as applying,
        coalesce(sum(score) filter (is_other), 0) as least,
        count(*) filter (is_other and score is null) as missing,
        bool_or(is_unread and (is_other or question in ('SG1', 'MM4'))) as is_unread
    from (select *, question in ('MM1', 'MM2', 'MM3', 'MM5', 'MM6', 'MM7', 'MM8') and not is_na as is_other from answers)
    group by all
    having count(*) filter (question = 'SG1') > 0 and count(*) filter (question = 'MM4') > 0
),

judged as (
    select
        *,
        case when applying > 0 and least >= applying / 2 then true when least + missing < applying / 2 then false end as modelled,
        list_filter(
            [
                case when not coalesce(grounded, false) then 'limited_search' end,
                case when coalesce(grounded and transferred, true) and not coalesce(modelled, false) then 'flawed_pragmatics' end,
                case when coalesce(grounded, true) and not coalesce(transferred, false) then 'inefficient_inference' end,
                case when coalesce(grounded and transferred and modelled, true) then 'none' end
            ],
            lambda one: one is not null
        ) as possible
    from parts
)

select
    judged.episode_id, judged.turn, judged.agent, judged.judge, run_conditions.condition, episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.task_id as structure_id,
    grounded, transferred, modelled, possible,
    case when len(possible) = 1 then possible[1] else 'undecided' end as mode,
    len(possible) > 1 and is_unread as not_understood,
    listed = 1 and specified = 0 as divergence
from judged
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
where episodes.benchmark = 'craft';

-- bps_turns: the turns of CRAFT by its Definition 4.1: an action of the oracle was available and not taken, and whether messages sufficed.
-- One row is (episode_id, turn, judge): a turn, by a judge of pragmatic sufficiency; a turn without verdicts has one row without a judge.
-- Read by judged game:
create or replace view bps_turns as
with given as (
    select
        episode_id, turn, judge, rubric, question, score,
        case when status = 'answered' then answer end as answer,
        status <> 'answered' and reason like '%not understood%' as is_unread
    from unmaterialized('verdicts_latest') as verdicts_latest
    where variant is null
    union all
    select episode_id, turn, 'label: ' || annotator as judge, rubric, question, score, answer, false as is_unread
    from unmaterialized('labels') as labels
),

sufficiency as (
    select
        episode_id, turn, judge,
        avg(case when lower(answer) not in ('na', 'n/a') then coalesce(score, 0.5) end) as score,
        coalesce(bool_or(is_unread), false) as not_understood
    from given
    where rubric = 'pragmatic_sufficiency' and question = 'PS3'
    group by all
)

select
    turns.episode_id, turns.turn, sufficiency.judge, run_conditions.condition, episodes.model,
    episodes.team ->> 'builder' as builder,
    episodes.task_id as structure_id,
    not turns.oracle_followed as communication_failure,
    case when sufficiency.score > 0.5 then true when sufficiency.score < 0.5 then false end as sufficient,
    case
        when turns.oracle_followed then 'followed'
        when turns.oracle_followed is null then null
        else case sufficient when true then 'builder' when false then 'messages' else 'undecided' end
    end as cause,
    coalesce(sufficiency.not_understood, false) as not_understood
from unmaterialized('turns') as turns
inner join episodes using (episode_id)
inner join run_conditions using (run_id)
left join sufficiency using (episode_id, turn)
where episodes.benchmark = 'craft';

-- bps_counts: what bps_failures and bps_turns decide about each game, counted.
-- One row is (episode_id, judge, unit, possible, not_understood).
-- Materialized: by judged game
create or replace view bps_counts as
select episode_id, judge, 'director turn' as unit, possible, not_understood, count(*) as turns
from unmaterialized('bps_failures')
group by all
union all
select
    episode_id, judge, 'turn' as unit,
    case cause when 'undecided' then ['messages', 'builder'] else [cause] end as possible,
    cause = 'undecided' and not_understood as not_understood,
    count(*) as turns
from unmaterialized('bps_turns')
where judge is not null and cause is not null
group by all;

-- bps_profiles: the profile of failures of each team of CRAFT: how often each part of the pragmatic speaker fails, and each cause of its turns.
-- One row is (condition, model, builder, judge, unit, mode): every team has all modes, so that a zero is seen as a zero.
-- Report: bps, ordered by unit, model, condition, builder, judge, mode
-- Shows: model, judge, unit, mode, decided, undecided, not_understood, share, share_low, share_high, least, most
create or replace view bps_profiles as
with targets as (
    select
        run_conditions.condition, episodes.model,
        episodes.team ->> 'builder' as builder,
        counts.judge, unit, mode, episodes.task_id as structure_id,
        coalesce(sum(turns) filter (possible = [mode]), 0)::bigint as k,
        coalesce(sum(turns) filter (len(possible) = 1), 0)::bigint as n,
        coalesce(sum(turns) filter (list_contains(possible, mode)), 0)::bigint as could_be,
        coalesce(sum(turns) filter (not_understood), 0)::bigint as n_unread,
        sum(turns)::bigint as all_
    from bps_counts as counts
    inner join rows_of('bps_modes.csv') using (unit)
    inner join episodes using (episode_id)
    inner join run_conditions using (run_id)
    group by all
)

select
    targets.condition, targets.model, targets.builder, groups.model_group, groups.reasoning, targets.judge, targets.unit, targets.mode,
    sum(k)::bigint as turns,
    sum(n)::bigint as decided,
    sum(all_ - n)::bigint as undecided,
    sum(n_unread)::bigint as not_understood,
    count(*) filter (n > 0) as structures,
    sum(k) / nullif(sum(n), 0) as share,
    cluster_low(k, n) as share_low,
    cluster_high(k, n) as share_high,
    sum(k) / sum(all_) as least,
    sum(could_be) / sum(all_) as most
from targets
left join craft_model_groups as groups on model_key(targets.model) = groups.model
group by all;
