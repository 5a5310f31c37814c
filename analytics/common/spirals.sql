-- recorded_games: the games whose logs record states or judged actions, or messages in which repetitions can be seen (dialogue_games).
-- One row is a game; for other games refusals, questions and correction spirals are unknown, which is not the same as none.
-- Materialized: by game
create or replace view recorded_games as
select distinct episode_id
from unmaterialized('turns') as turns
where state_before is not null or state_after is not null
union
select distinct episode_id
from unmaterialized('actions') as actions
where accepted is not null or undoes is not null
union
select episode_id
from unmaterialized('dialogue_games') as dialogue_games;

-- spiral_games: those of them in which correction spirals can be seen. Where every turn of a family makes a new state, none is possible, and a
-- share of 0 would be no result about teams.
-- One row is a game.
-- Read by game:
create or replace view spiral_games as
select recorded.episode_id
from unmaterialized('recorded_games') as recorded
inner join unmaterialized('episodes') as episodes using (episode_id)
where episodes.benchmark not in (select benchmark from list_of_families() where not spirals);

-- game_spirals: the correction spirals of each game, as its log shows them; `correction_spirals` adds the columns of the game.
-- One row is a maximal stretch of one kind in one game; stretches of different kinds may overlap.
-- Materialized: by game
create or replace view game_spirals as
with thresholds as (
    select
        2 as over_removal_turns,  -- undoing turns in a row that make an over_removal
        3 as stall_turns,  -- unchanged turns in a row that make a stall
        1e-9 as progress_step  -- a smaller difference of progress is rounding
),

before_first_turn as (
    select turn_metrics.episode_id, turn_metrics.value as progress
    from unmaterialized('turn_metrics') as turn_metrics
    inner join episodes using (episode_id)
    where turn_metrics.turn = 0 and turn_metrics.metric = episodes.benchmark || '.overall_progress'
),

-- as in turn_states, for the games concerned alone, and as numbers: texts of a million turns are slow to sort and to join, and equal ones
-- within a game have equal numbers
texts as (
    select
        turns.episode_id, turns.turn,
        coalesce(written.before_state, turns.state_before ->> '$') as before_state,
        coalesce(written.after_state, turns.state_after ->> '$') as after_state
    from unmaterialized('turns') as turns
    left join unmaterialized(every_family('turn_states')) as written using (episode_id, turn)
),

states as (
    select
        episode_id, turn,
        before_state <> after_state as changed,
        case when before_state is not null then hash(before_state) end as before_state,
        case when after_state is not null then hash(after_state) end as after_state
    from texts
),

steps as (
    select
        turns.episode_id, turns.turn, states.before_state, states.after_state, states.changed, turns.progress,
        coalesce(lag(turns.progress) over game, before_first_turn.progress, 0) as progress_before,
        coalesce(
            sum(states.changed::int) over (
                partition by turns.episode_id order by turns.turn rows between unbounded preceding and 1 preceding
            ),
            0
        ) as changes_before
    from unmaterialized('turns') as turns
    inner join states using (episode_id, turn)
    left join before_first_turn using (episode_id)
    window game as (partition by turns.episode_id order by turns.turn)
),

-- repeated_failure ---------------------------------------------------------------------------------------------------------------------
refused_again as (
    select
        actions.episode_id, steps.changes_before,
        min(actions.turn) as start_turn,
        max(actions.turn) as end_turn,
        actions.agent || ': ' || actions.verb || ' ' || actions.arguments || ' refused on turns '
            || array_to_string(list_sort(list(distinct actions.turn)), ', ') as evidence
    from unmaterialized('actions') as actions
    inner join steps using (episode_id, turn)
    where not actions.accepted and steps.before_state is not null
    group by actions.episode_id, steps.changes_before, actions.agent, actions.verb, actions.arguments
    having count(distinct actions.turn) > 1
),

repeated_failure as (
    select
        episode_id,
        min(start_turn) as start_turn,
        max(end_turn) as end_turn,
        string_agg(evidence, '; ' order by start_turn, evidence) as evidence
    from refused_again
    group by episode_id, changes_before
),

-- undo_loop ----------------------------------------------------------------------------------------------------------------------------
first_left as (
    select episode_id, before_state as state, min(turn) as left_turn
    from steps
    where changed
    group by all
),

returns as (
    select steps.episode_id, first_left.left_turn, steps.turn as back_turn
    from steps
    inner join first_left on steps.episode_id = first_left.episode_id and steps.after_state = first_left.state
    where steps.changed and first_left.left_turn < steps.turn
),

marked_returns as (
    select
        *,
        coalesce(
            left_turn > max(back_turn) over (
                partition by episode_id order by left_turn, back_turn rows between unbounded preceding and 1 preceding
            ),
            true
        ) as opens
    from returns
),

numbered_returns as (
    select *, sum(opens::int) over (partition by episode_id order by left_turn, back_turn) as stretch
    from marked_returns
),

undo_loop as (
    select
        episode_id,
        min(left_turn) as start_turn,
        max(back_turn) as end_turn,
        string_agg('the state left on turn ' || left_turn || ' is back after turn ' || back_turn, '; ' order by back_turn) as evidence
    from numbered_returns
    group by episode_id, stretch
),

-- over_removal -------------------------------------------------------------------------------------------------------------------------
has_oracle as (
    select episode_id, turn, bool_or(undoes) as undoing_verified
    from unmaterialized('oracle_actions') as oracle_actions
    where verified
    group by all
),

-- where a log records no verified actions on any turn, none is known that undoes
games_with_oracle as (
    select episode_id from has_oracle
    union
    select episode_id from unmaterialized('turns') as turns group by episode_id having bool_and(oracle_available is null)
),

idle_undoing as (
    select
        actions.episode_id, actions.turn,
        'turn ' || actions.turn || ': ' || string_agg(actions.verb || ' ' || actions.arguments
            || case when actions.accepted is false then ' (refused)' else '' end, ', ' order by actions.seq) as evidence,
        actions.turn - row_number() over (partition by actions.episode_id order by actions.turn) as stretch
    from unmaterialized('actions') as actions
    inner join games_with_oracle using (episode_id)
    left join has_oracle using (episode_id, turn)
    where actions.undoes and not coalesce(has_oracle.undoing_verified, false)
    group by actions.episode_id, actions.turn
),

over_removal as (
    select
        episode_id,
        min(turn) as start_turn,
        max(turn) as end_turn,
        string_agg(evidence, '; ' order by turn) || '; no verified action undoes there' as evidence
    from idle_undoing
    group by episode_id, stretch
    having count(*) >= (select over_removal_turns from thresholds)
),

-- stall --------------------------------------------------------------------------------------------------------------------------------
still as (
    select episode_id, min(turn) as start_turn, max(turn) as end_turn
    from steps
    where not changed
    group by episode_id, changes_before
    having count(*) >= (select stall_turns from thresholds)
),

stall as (
    select
        still.episode_id, still.start_turn, still.end_turn,
        'no change of state; actions refused: ' || count(*) filter (not actions.accepted)
            || ', clarifications: ' || count(*) filter (actions.verb = 'clarify') as evidence
    from still
    left join unmaterialized('actions') as actions
        on still.episode_id = actions.episode_id and actions.turn between still.start_turn and still.end_turn
    group by all
),

-- together -----------------------------------------------------------------------------------------------------------------------------
stretches as (
    select *, 'repeated_failure' as kind from repeated_failure
    union all by name
    select *, 'undo_loop' as kind from undo_loop
    union all by name
    select *, 'over_removal' as kind from over_removal
    union all by name
    select *, 'stall' as kind from stall
),

started as (
    select stretches.*, steps.progress_before as progress_start
    from stretches
    inner join steps on stretches.episode_id = steps.episode_id and stretches.start_turn = steps.turn
),

measured as (
    select
        started.episode_id, started.start_turn, started.end_turn, started.kind, case
            when count(steps.progress) > 0 then count(*) filter (steps.progress <= started.progress_start + thresholds.progress_step)
        end as turns_wasted,
        started.evidence,
        count(*) as turns,
        started.progress_start,
        max(steps.progress) filter (steps.turn = started.end_turn) as progress_end
    from started
    inner join steps on started.episode_id = steps.episode_id and steps.turn between started.start_turn and started.end_turn
    cross join thresholds
    group by all
)

select * from measured;

-- turn_states: the state before and after each turn, in a form in which equal states are equal texts.
-- One row is a turn.
create or replace view turn_states as
with states as (
    select
        turns.episode_id, turns.turn,
        coalesce(written.before_state, turns.state_before ->> '$') as before_state,
        coalesce(written.after_state, turns.state_after ->> '$') as after_state
    from turns
    left join every_family('turn_states') as written using (episode_id, turn)
)

select *, before_state <> after_state as changed from states;

-- correction_spirals: stretches of turns spent on correcting without getting anywhere (definition and examples: docs/spirals.md).
-- One row is a maximal stretch of one kind in one game; stretches of different kinds may overlap.
-- Report: spirals, ordered by turns_wasted desc, model, task_id, episode_id, start_turn, kind
-- Shows: model, task_id, start_turn, end_turn, kind, turns_wasted, evidence
create or replace view correction_spirals as
with every_stretch as (
    select * from game_spirals
    union all by name
    select episode_id, start_turn, end_turn, kind, turns_wasted, evidence, end_turn - start_turn + 1 as turns
    from dialogue_spirals
)

select
    every_stretch.*,
    games.benchmark, games.condition, games.model, games.level, games.task_id
from every_stretch
inner join games using (episode_id);
