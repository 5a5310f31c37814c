-- values_einstein: what each step of Einstein games cost, with the columns of the reference table.
-- One row is a step, that is a turn, of an Einstein game. Flags are 1 and 0, as the reference table writes them.
--   run  text  name of the run: its folder, or condition and players
--   game_id  text  the game's key inside the run, as in einstein_games
--   step  number  from 0; the turn is one more
--   player  number  who acted: 0 is Player1, 1 is Player2
--   action_type  text  move, share, ask, pass or invalid
--   accepted  flag  the action was among the expected ones, or the rules accept it anyhow
--   state_changed  flag  objects lie elsewhere after the step
--   d_before  steps  fewest steps to the goal for two players who know everything
--   d_after  steps  the same after the step
--   cost  steps  1 + d_after - d_before: steps lost against perfect hands
--   plan_before  steps  fewest steps by the published planner, which passes only where it can do nothing else
--   plan_after  steps  the same after the step
--   plan_cost  steps  1 + plan_after - plan_before; can be less than 0
--   know_before  steps  fewest steps with what the players know and can tell each other
--   know_after  steps  the same after the step
--   know_cost  steps  1 + know_after - know_before: steps lost against the best the team could do; less than 0 only by luck
--   lucky  flag  a guess that the rules refuse, and that changed the table all the same
--   steps_spent  steps  always 1
--   lost_after  flag  what is left takes longer than the game lasts
-- Reads: einstein_step_facts, episodes, runs, turn_values.
create or replace view values_einstein as

with measured as (
    select
        episode_id,
        turn,
        max(value_before) filter (measure = 'einstein.hands') as d_before,
        max(value_after) filter (measure = 'einstein.hands') as d_after,
        max(cost) filter (measure = 'einstein.hands') as cost,
        max(value_before) filter (measure = 'einstein.plan') as plan_before,
        max(value_after) filter (measure = 'einstein.plan') as plan_after,
        max(cost) filter (measure = 'einstein.plan') as plan_cost,
        max(value_before) filter (measure = 'einstein.know') as know_before,
        max(value_after) filter (measure = 'einstein.know') as know_after,
        max(cost) filter (measure = 'einstein.know') as know_cost
    from turn_values
    where measure in ('einstein.hands', 'einstein.plan', 'einstein.know')
    group by all
),

limits as (
    select
        episodes.episode_id,
        -- by the published rules a game that is solved in its last step counts as failed
        episodes.max_turns - (runs.condition ->> 'rules' = 'published')::int as last_step
    from episodes
    inner join runs using (run_id)
)

select
    facts.run,
    facts.game_id,
    facts.step,
    facts.player,
    facts.action_type,
    facts.accepted,
    facts.state_changed,
    measured.d_before,
    measured.d_after,
    measured.cost,
    measured.plan_before,
    measured.plan_after,
    measured.plan_cost,
    measured.know_before,
    measured.know_after,
    measured.know_cost,
    (facts.state_changed = 1 and facts.accepted = 0)::int as lucky,
    1 as steps_spent,
    (facts.step + 1 + measured.d_after > limits.last_step)::int as lost_after
from einstein_step_facts as facts
inner join measured on facts.episode_id = measured.episode_id and facts.step + 1 = measured.turn
inner join limits on facts.episode_id = limits.episode_id;
