-- einstein_step_facts: everything countable about a step of an Einstein game; the einstein views are made from it.
-- One row is a step, that is a turn, of an Einstein game. Flags are 1 and 0, as the reference tables write them.
--   episode_id  text  the game
--   run_id  text  its run
--   run  text  name of the run: its folder, or condition and players
--   game_id  text  the game's key inside the run: the name of its file, with its suffix; in cotrace's own logs the puzzle
--   step  number  from 0, as published logs count; the turn is one more
--   player  number  who acted: 0 is Player1, 1 is Player2
--   action_type  text  move, share, ask, pass or invalid
--   action  text  the action in canonical spelling; null for an answer that the grammar does not read
--   accepted  flag  the action was among the expected ones, or the rules accept it anyhow
--   state_changed  flag  objects lie elsewhere after the step; a lucky guess can be refused and change them all the same
--   history_ok  flag  the players are shown the step as successful
--   terminated  flag  all objects are in their goal bins
--   truncated  flag  the step limit is reached
--   correct_objects  count  objects in their goal bins after the step
--   deducible_move_available  flag  the player could infer a useful move
--   labels  text  the paper's error categories in the order of its Table 2, joined by bars; null for none
--   ext_labels  text  the additional labels likewise
--   executed_sample  number  which answer was executed, from 0
--   used_trials  count  answers thrown away before it; null without verifier
--   sum_err  number  cost of the answers; null without verifier
--   actions_err  text  cost of each answer, joined by bars; null without verifier
--   corrected  flag  a later answer replaced the first; null without verifier
-- Reads: turns, episodes, runs, actions, turn_metrics, failures.
create or replace view einstein_step_facts as

with played as (
    select
        episodes.episode_id,
        episodes.run_id,
        runs.name as run,
        coalesce(episodes.details ->> '$.file_id', episodes.task_id) as game_id
    from episodes
    inner join runs using (run_id)
    where episodes.benchmark = 'einstein'
),

measured as (
    select
        episode_id,
        turn,
        max(value) filter (metric = 'einstein.state_changed') as state_changed,
        max(value) filter (metric = 'einstein.history_ok') as history_ok,
        max(value) filter (metric = 'einstein.terminated') as terminated,
        max(value) filter (metric = 'einstein.truncated') as truncated,
        max(value) filter (metric = 'einstein.correct_objects') as correct_objects,
        max(value) filter (metric = 'einstein.deducible_move_available') as deducible_move_available,
        max(value) filter (metric = 'einstein.executed_sample') as executed_sample,
        max(value) filter (metric = 'einstein.used_trials') as used_trials,
        max(value) filter (metric = 'einstein.sum_err') as sum_err,
        max(value) filter (metric = 'einstein.corrected') as corrected,
        string_agg(value::int::varchar, '|' order by try_cast(split_part(metric, '.', 3) as int))
            filter (metric like 'einstein.sample_cost.%') as actions_err
    from turn_metrics
    where metric like 'einstein.%' and turn > 0
    group by all
),

labelled as (
    select
        episode_id,
        turn,
        string_agg(category, '|' order by list_position([
            'format_following', 'object_not_in_source_bin', 'source_bin_not_reachable', 'dest_bin_not_reachable',
            'same_source_dest', 'redundant_sharing', 'no_share_after_seek', 'wrong_share_after_seek', 'seek_known_object',
            'wrong_rule', 'wrong_guess'
        ], category)) filter (taxonomy = 'einstein_published' and category <> 'no_error') as labels,
        string_agg(category, '|' order by list_position([
            'unanswerable_seek', 'refused_seek_pending', 'share_not_owned', 'obsolete_share', 'out_of_mode', 'unknown_object',
            'repeated_refused_move', 'lucky_guess'
        ], category)) filter (taxonomy = 'einstein_extended' and category <> 'none_of_these') as ext_labels
    from failures
    where taxonomy in ('einstein_published', 'einstein_extended')
    group by all
)

select
    played.episode_id,
    played.run_id,
    played.run,
    played.game_id,
    turns.turn - 1 as step,
    (actions.agent = 'Player2')::int as player,
    actions.verb as action_type,
    case
        when actions.verb = 'move'
            then 'move ' || (arguments ->> 'block') || ' from ' || (arguments ->> 'from') || ' to ' || (arguments ->> 'to')
        when actions.verb = 'share' and arguments ->> 'in' is not null
            then 'share (' || (arguments ->> 'block') || ', in, ' || (arguments ->> 'in') || ')'
        when actions.verb = 'share'
            then 'share (' || (arguments ->> '$.blocks[0]') || ', ' || (arguments ->> '$.blocks[1]') || ', same, ' || (arguments ->> 'same') || ')'
        when actions.verb = 'ask' then 'ask ' || (arguments ->> 'block')
        when actions.verb = 'pass' then 'pass'
    end as action,
    actions.accepted::int as accepted,
    measured.state_changed::int as state_changed,
    measured.history_ok::int as history_ok,
    measured.terminated::int as terminated,
    measured.truncated::int as truncated,
    measured.correct_objects::int as correct_objects,
    measured.deducible_move_available::int as deducible_move_available,
    labelled.labels,
    labelled.ext_labels,
    measured.executed_sample::int as executed_sample,
    measured.used_trials::int as used_trials,
    measured.sum_err::int as sum_err,
    measured.actions_err,
    measured.corrected::int as corrected
from played
inner join turns using (episode_id)
inner join actions on turns.episode_id = actions.episode_id and turns.turn = actions.turn and actions.seq = 1
inner join measured on turns.episode_id = measured.episode_id and turns.turn = measured.turn
inner join labelled on turns.episode_id = labelled.episode_id and turns.turn = labelled.turn;
