-- coordination_games: the games of LLM-Coordination, without CoordinationQA.
-- One row is a game; a console text or players' files that tell a game again of which there is a step log are left out, and so are
-- the records of one player alone, which have no score.
--   episode_id  text  the game
--   game  text  hanabi, overcooked, collab_capture or collab_escape
--   episode  text  what the log calls it
--   model  text  the evaluated model or policy, or both players' joined by +
--   variant  text  layout of the kitchen or scenario of the capture; `episode` in the other two
--   complete  flag  the log has its last turn
--   turns  turns  turns recorded; ticks in the kitchen
--   score  number  Hanabi: sum of the stacks, lives or not; Overcooked: points; the others: 1 or 0
--   bombed  flag  Hanabi: all lives lost; null elsewhere
--   success  flag  captured, or escaped; null in Hanabi and Overcooked, whose measure in the paper is the score
-- Report: coordination, ordered by game, model, variant, episode_id
-- Shows: game, model, variant, turns, score, success
-- Reads: episodes, episode_metrics, coordination_repeated_episodes.
create or replace view coordination_games as

select
    episodes.episode_id,
    episodes.level as game,
    episodes.details ->> 'episode' as episode,
    episodes.model,
    case when episodes.level in ('overcooked', 'collab_capture') then episodes.task_id else 'episode' end as variant,
    (episodes.details ->> 'complete')::boolean as complete,
    episodes.turns_taken as turns,
    episodes.score,
    bombs.value = 1 as bombed,
    episodes.success
from episodes
anti join coordination_repeated_episodes using (episode_id)
left join episode_metrics as bombs
    on episodes.episode_id = bombs.episode_id and bombs.metric = 'coordination.hanabi_bombed'
where
    episodes.benchmark = 'coordination'
    and episodes.score is not null
    and episodes.level in ('hanabi', 'overcooked', 'collab_capture', 'collab_escape');
