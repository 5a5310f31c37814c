-- attributed_costs: whose cost each turn was, and through which broken link (docs/attribution.md); `cotrace attribute` works it out.
-- One row is a part of a turn's cost, or a fault without consequence (cost 0).
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   builder  text  the builder's model; null where the team has no builder
--   team_name  text  the team in short, as in team_names
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   agent  text  whose; null: no agent's, or status is not answered
--   role  text  the agent's role; null where the cost is nobody's
--   agent_model  text  the agent's model; null where the cost is nobody's, or the log does not say
--   archetype  text  the agent's character or script; null where it is nobody's or the log names none
--   link  text  the failure point; not_understood where a message was not, undecided where nothing can be proven
--   cost  number  part of the turn's cost, in `unit`
--   unit  text  progress (0 to 1), steps, turns, points or probability; null in games without values
--   regained  number  what the ideal in its place would have kept, in `unit`; null where that is not known
--   evidence  text  words, places and rules that show it
--   judge  text  who says so
--   status  text  answered; harness: it lost or misread the answer; unattributed: a message was not understood; undecided: nothing can be proven
-- Report: attributions, ordered by benchmark, cost desc, episode_id, turn, agent
-- Shows: model, task_id, turn, agent, link, status, cost, evidence
-- Reads: attributions, agents, games, team_names, turn_costs.
create or replace view attributed_costs as

select
    found.episode_id,
    found.turn,
    games.benchmark,
    games.condition,
    games.model,
    games.builder,
    team_names.team_name,
    games.task_id,
    games.level,
    found.agent,
    agents.role,
    agents.model as agent_model,
    agents.persona as archetype,
    found.link,
    found.cost,
    turn_costs.unit,
    found.regained,
    found.evidence,
    found.judge,
    found.status
from attributions as found
inner join games using (episode_id)
inner join team_names using (episode_id)
left join agents on found.episode_id = agents.episode_id and found.agent = agents.agent
left join turn_costs on found.episode_id = turn_costs.episode_id and found.turn = turn_costs.turn;
