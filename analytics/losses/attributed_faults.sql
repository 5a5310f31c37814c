-- attributed_faults: the broken links that costs are put down to, each beside its turn; what both have under one name says whose it is.
-- One row is a broken link of a turn, as in attributions.
--   episode_id  text  the game
--   turn  number  from 1
--   agent  text  whose; null: nobody's
--   link  text  the failure point, docs/attribution.md; not_understood where a message was not, undecided where nothing can be proven
--   fault_cost  number  part of the turn's cost, in `cost_unit`; 0 of a fault without consequence
--   regained  number  how much the ideal action in its place keeps by the rules of the game; null where that is not known
--   fault_evidence  text  words, places and rules that show it
--   fault_judge  text  `engine`, or `engine:<reader>` where others than the rules read the messages
--   fault_status  text  answered; harness: it lost or misread the answer; unattributed: a message was not understood; undecided: nothing can be proven
--   benchmark  text  its benchmark
--   team_name  text  the team in short, as in team_names
--   condition  text  the condition of the run, as in run_conditions
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   turn_cost  number  what the turn lost, in `cost_unit`; less than 0 where it gained, null where nothing was left to lose
--   cost_unit  text  progress (0 to 1), steps, turns, points or probability
--   lost  flag  success can no more be reached after the turn; null as in turn_costs
-- Reads: attributions, turn_costs, team_names.
create or replace view attributed_faults as

select
    attributions.episode_id,
    attributions.turn,
    attributions.agent,
    attributions.link,
    attributions.cost as fault_cost,
    attributions.regained,
    attributions.evidence as fault_evidence,
    attributions.judge as fault_judge,
    attributions.status as fault_status,
    turn_costs.benchmark,
    team_names.team_name,
    turn_costs.condition,
    turn_costs.task_id,
    turn_costs.level,
    turn_costs.cost as turn_cost,
    turn_costs.unit as cost_unit,
    turn_costs.lost
from attributions
inner join turn_costs on attributions.episode_id = turn_costs.episode_id and attributions.turn = turn_costs.turn
left join team_names on attributions.episode_id = team_names.episode_id;
