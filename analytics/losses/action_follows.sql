-- action_follows: which message each action fulfilled: everything that was asked for, and what became of it in the turn.
-- One row is a request of a message, as far as it was understood; `cotrace attribute` works it out.
--   episode_id  text  the game
--   turn  number  from 1
--   benchmark  text  its benchmark
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model
--   task_id  text  the structure, puzzle, order or question
--   seq  number  the message, as in utterances
--   agent  text  who asked
--   role  text  the role of who asked
--   archetype  text  the character or script of who asked; null if the log names none
--   actor  text  who acted
--   request  text  what was asked for, in words
--   followed  text  fully; partly: the action fits what was left open; differs: but for a block, place or order; no
--   right  flag  whether the author's own view asks for it; null if that is not known
--   accepted  flag  whether the turn's action was carried out; null where there was none
-- Report: action-follows, ordered by benchmark, model, task_id, episode_id, turn, seq
-- Shows: model, task_id, turn, agent, request, followed, right, accepted
-- Reads: requests, agents, actions, games.
create or replace view action_follows as

select
    requests.episode_id,
    requests.turn,
    games.benchmark,
    games.condition,
    games.model,
    games.task_id,
    requests.seq,
    requests.agent,
    agents.role,
    agents.persona as archetype,
    requests.actor,
    requests.request,
    requests.followed,
    requests."right",
    done.accepted
from requests
inner join games using (episode_id)
left join agents on requests.episode_id = agents.episode_id and requests.agent = agents.agent
left join (
    select episode_id, turn, agent, bool_or(accepted) as accepted
    from actions
    group by episode_id, turn, agent
) as done
    on requests.episode_id = done.episode_id and requests.turn = done.turn and requests.actor = done.agent;
