-- values_hanabi: what each turn of Hanabi games cost at least, with the columns of the reference table.
-- One row is a turn of a Hanabi game.
--   episode  text  what the log calls the game
--   turn  number  from 1
--   player  text  who moved
--   policy  text  who stands behind the player; null if the log does not say
--   action_type  text  PLAY, DISCARD, REVEAL_COLOR or REVEAL_RANK
--   score_before  points  sum of the stacks before the turn
--   score_after  points  sum of the stacks after the turn
--   lives_after  count  lives left
--   deck_before  count  cards in the deck
--   deck_after  count  cards in the deck after the turn
--   reach_before  points  sum over the colours of the highest rank that lost cards still allow
--   reach_after  points  the same after the turn
--   pace_before  points  score and the plays that are still possible
--   pace_after  points  the same after the turn
--   ub_before  points  the lower of reach and pace: the final score is at most this
--   ub_after  points  the same after the turn; the score once all lives are lost
--   loss  points  ub_before - ub_after
--   reason  text  out_of_lives, pace, bomb (a play that failed) or last_copy (a discard); null without a loss
-- Reads: turns, actions, agents, episodes, turn_metrics, turn_values, coordination_repeated_episodes.
create or replace view values_hanabi as

with measured as (
    select
        episode_id,
        turn,
        max(value_before) filter (measure = 'coordination.hanabi_reach') as reach_before,
        max(value_after) filter (measure = 'coordination.hanabi_reach') as reach_after,
        max(value_before) filter (measure = 'coordination.hanabi_pace') as pace_before,
        max(value_after) filter (measure = 'coordination.hanabi_pace') as pace_after,
        max(value_before) filter (measure = 'coordination.hanabi_bound') as ub_before,
        max(value_after) filter (measure = 'coordination.hanabi_bound') as ub_after,
        max(cost) filter (measure = 'coordination.hanabi_bound') as loss
    from turn_values
    where starts_with(measure, 'coordination.hanabi_')
    group by all
),

numbers as (
    select
        episode_id,
        turn,
        max(value) filter (metric = 'coordination.hanabi_score') as score,
        max(value) filter (metric = 'coordination.hanabi_lives') as lives
    from turn_metrics
    where metric in ('coordination.hanabi_score', 'coordination.hanabi_lives')
    group by all
),

described as (
    select
        episodes.details ->> 'episode' as episode,
        turns.turn,
        actions.agent as player,
        agents.model as policy,
        upper(actions.verb) as action_type,
        coalesce(lag(numbers.score) over (partition by turns.episode_id order by turns.turn), 0) as score_before,
        numbers.score as score_after,
        numbers.lives as lives_after,
        (turns.state_before ->> 'deck_size')::bigint as deck_before,
        (turns.state_after ->> 'deck_size')::bigint as deck_after,
        measured.* exclude (episode_id, turn)
    from measured
    inner join episodes using (episode_id)
    inner join turns using (episode_id, turn)
    inner join actions using (episode_id, turn)
    inner join agents on actions.episode_id = agents.episode_id and actions.agent = agents.agent
    inner join numbers using (episode_id, turn)
    anti join coordination_repeated_episodes on measured.episode_id = coordination_repeated_episodes.episode_id
)

select
    *,
    case
        when loss = 0 then null
        when lives_after = 0 then 'out_of_lives'
        when pace_after < reach_after then 'pace'
        when action_type = 'PLAY' then 'bomb'
        else 'last_copy'
    end as reason
from described;
