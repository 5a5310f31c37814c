-- asympuzl_positions: how often AsymPuzl agents wrote each position on each turn.
-- One row is (game, agent, turn, position) with at least one valid action.
--   benchmark  text  asympuzl
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model, or both joined by +
--   level  text  the size, as text
--   episode_id  text  the game
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   agent  text  A or B
--   agent_model  text  the model behind this agent
--   turn  number  from 1
--   position  number  from 1
--   writes  count  valid actions
--   undoing_actions  count  those that took back a right entry or changed a position again
-- Reads: asympuzl_games, actions, agents.
create or replace view asympuzl_positions as

select
    asympuzl_games.benchmark,
    asympuzl_games.condition,
    asympuzl_games.model,
    asympuzl_games.level,
    actions.episode_id,
    asympuzl_games.size,
    asympuzl_games.feedback_mode,
    actions.agent,
    agents.model as agent_model,
    actions.turn,
    (actions.arguments ->> 'position')::int as position,
    count(*) as writes,
    count(*) filter (actions.undoes) as undoing_actions
from asympuzl_games
inner join actions using (episode_id)
inner join agents using (episode_id, agent)
where actions.accepted and actions.verb = 'replace'
group by all;
