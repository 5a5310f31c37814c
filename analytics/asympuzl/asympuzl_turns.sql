-- asympuzl_turns: AsymPuzl turns, agent by agent.
-- One row is an agent's turn.
--   benchmark  text  asympuzl
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model, or both joined by +
--   level  text  the size, as text
--   file  text  path relative to the folder given to `cotrace ingest`
--   episode_id  text  the game
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   seed  number  of the puzzle; null if the log has none
--   turn  number  from 1
--   agent  text  A or B
--   agent_model  text  the model behind this agent
--   parse_ok  flag  the answer has a JSON object; as read if the log does not say
--   parse_strict  flag  the answer ends with it; null if the log does not say
--   message  text  what the partner got; may be empty
--   repeated_message  flag  the same as this agent's message before, apart from case, blanks and punctuation
--   sufficient_message  flag  the message gives all that this agent knows, as far as a rule can read it
--   writes  count  valid actions
--   changes  count  valid actions that changed a value
--   invalid_actions  count  actions that were skipped
--   overcorrections  count  actions that made a right entry wrong
--   undoing_actions  count  actions that took back a right entry or changed a position again
--   wrong_positions  count  wrong positions of this agent after the turn
--   output_tokens  tokens  length of the raw answer; null if the log does not count
--   message_tokens  tokens  length of the message; null if the log does not count
--   tokenizer  text  who counted; numbers of different tokenizers must not be compared; null if the log does not say
--   progress  0..1  share of right entries of both agents after the turn
-- Reads: episodes, runs, run_conditions, turns, agents, turn_metrics, utterances, actions.
create or replace view asympuzl_turns as

-- a metric of an agent's turn is called asympuzl.<name>_a or asympuzl.<name>_b
with named as (
    select
        episode_id,
        turn,
        upper(right(metric, 1)) as agent,
        metric[length('asympuzl.') + 1:-3] as name,
        value
    from turn_metrics
    where starts_with(metric, 'asympuzl.') and right(metric, 2) in ('_a', '_b')
),

measured as (
    select
        episode_id,
        turn,
        agent,
        max(value) filter (name = 'parse_ok') = 1 as parse_ok,
        max(value) filter (name = 'parse_strict') = 1 as parse_strict,
        max(value) filter (name = 'repeated_message') = 1 as repeated_message,
        max(value) filter (name = 'sufficient_message') = 1 as sufficient_message,
        max(value) filter (name = 'writes')::bigint as writes,
        max(value) filter (name = 'changes')::bigint as changes,
        max(value) filter (name = 'invalid_actions')::bigint as invalid_actions,
        max(value) filter (name = 'overcorrections')::bigint as overcorrections,
        max(value) filter (name = 'wrong_positions')::bigint as wrong_positions,
        max(value) filter (name = 'output_tokens')::bigint as output_tokens,
        max(value) filter (name = 'message_tokens')::bigint as message_tokens
    from named
    group by all
),

undone as (
    select episode_id, turn, agent, count(*) as undoing_actions
    from actions
    where undoes
    group by all
)

select
    episodes.benchmark,
    run_conditions.condition,
    episodes.model,
    episodes.level,
    episodes.file,
    measured.episode_id,
    (runs.condition ->> 'size')::int as size,
    runs.condition ->> 'feedback_mode' as feedback_mode,
    episodes.seed,
    measured.turn,
    measured.agent,
    agents.model as agent_model,
    measured.parse_ok,
    measured.parse_strict,
    utterances.text as message,
    measured.repeated_message,
    measured.sufficient_message,
    measured.writes,
    measured.changes,
    measured.invalid_actions,
    measured.overcorrections,
    coalesce(undone.undoing_actions, 0) as undoing_actions,
    measured.wrong_positions,
    measured.output_tokens,
    measured.message_tokens,
    runs.condition ->> 'tokenizer' as tokenizer,
    turns.progress
from measured
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join run_conditions using (run_id)
inner join turns using (episode_id, turn)
inner join agents using (episode_id, agent)
left join utterances
    on measured.episode_id = utterances.episode_id
    and measured.turn = utterances.turn
    and measured.agent = utterances.agent
    and utterances.channel = 'public'
left join undone
    on measured.episode_id = undone.episode_id and measured.turn = undone.turn and measured.agent = undone.agent
where episodes.benchmark = 'asympuzl' and coalesce(runs.condition ->> 'solo', 'false') = 'false';
