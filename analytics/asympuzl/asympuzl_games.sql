-- asympuzl_games: AsymPuzl games of two; those of one agent with all clues are in asympuzl_solo.
-- One row is a game.
--   benchmark  text  asympuzl
--   condition  text  the condition of the run, as in run_conditions
--   model  text  the evaluated model, or both joined by +
--   level  text  the size, as text
--   file  text  path relative to the folder given to `cotrace ingest`
--   episode_id  text  the game
--   model_a  text  model of A (Alice, who knows the order of the shapes)
--   model_b  text  model of B (Bob, who knows the color of each shape)
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   seed  number  of the puzzle; null if the log has none
--   history_length  number  messages of each agent that are shown; null if the log does not say
--   max_turns  turns  turn limit; null if the log does not say
--   turns  turns  turns recorded
--   complete  flag  the log has the end of the game; false while it runs, if it was cut, or if turns of it are lost
--   solved  flag  both hypotheses were right at the end; null if the game is not complete, as the numbers of the whole game
--   solved_turn  turns  turn on which the game was solved; null if it was not
--   solved_turn_a  turns  first turn after which A's part was right and stayed right; null if it is not right at the end
--   solved_turn_b  turns  the same of B
--   progress  0..1  share of right entries of both agents at the end
--   writes_per_position_a  number  valid actions of A on a position, mean over positions (the paper's actions per position)
--   writes_per_position_b  number  the same of B
--   writes_per_position  number  mean of the two
--   changes_per_position_a  number  valid actions of A that changed a value, mean over positions
--   changes_per_position_b  number  the same of B
--   optimal_changes_per_position_b  number  the fewest B can do with: displaced positions / size (A's are 1)
--   overcorrections  count  actions that made a right entry wrong
--   undoing_actions  count  actions that took back a right entry or changed a position again
--   invalid_actions  count  actions that were skipped
--   answers  count  agent turns
--   no_json  count  agent turns without a JSON object
--   repeated_messages  count  agent turns that said the same as before
--   output_tokens_a  tokens  mean length of A's answers; null if the log does not count
--   output_tokens_b  tokens  the same of B
--   message_tokens_a  tokens  mean length of A's messages; null if the log does not count
--   message_tokens_b  tokens  the same of B
--   message_share_a  percent  message_tokens_a / output_tokens_a; null if the log does not count
--   message_share_b  percent  the same of B
--   tokenizer  text  who counted; numbers of different tokenizers must not be compared; null if the log does not say
-- Reads: episodes, runs, run_conditions, episode_metrics, asympuzl_turns.
create or replace view asympuzl_games as

with facts as (
    select
        episode_id,
        max(value) filter (metric = 'asympuzl.solved_turn')::bigint as solved_turn,
        max(value) filter (metric = 'asympuzl.solved_turn_a')::bigint as solved_turn_a,
        max(value) filter (metric = 'asympuzl.solved_turn_b')::bigint as solved_turn_b,
        max(value) filter (metric = 'asympuzl.overall_progress') as progress,
        max(value) filter (metric = 'asympuzl.writes_per_position_a') as writes_per_position_a,
        max(value) filter (metric = 'asympuzl.writes_per_position_b') as writes_per_position_b,
        max(value) filter (metric = 'asympuzl.changes_per_position_a') as changes_per_position_a,
        max(value) filter (metric = 'asympuzl.changes_per_position_b') as changes_per_position_b,
        max(value) filter (metric = 'asympuzl.optimal_changes_per_position_b') as optimal_changes_per_position_b
    from episode_metrics
    where starts_with(metric, 'asympuzl.')
    group by all
),

counted as (
    select
        episode_id,
        sum(overcorrections)::bigint as overcorrections,
        sum(undoing_actions)::bigint as undoing_actions,
        sum(invalid_actions)::bigint as invalid_actions,
        count(*) as answers,
        count(*) filter (not parse_ok) as no_json,
        count(*) filter (repeated_message) as repeated_messages,
        avg(output_tokens) filter (agent = 'A') as output_tokens_a,
        avg(output_tokens) filter (agent = 'B') as output_tokens_b,
        avg(message_tokens) filter (agent = 'A') as message_tokens_a,
        avg(message_tokens) filter (agent = 'B') as message_tokens_b
    from asympuzl_turns
    group by all
)

select
    episodes.benchmark,
    run_conditions.condition,
    episodes.model,
    episodes.level,
    episodes.file,
    episodes.episode_id,
    episodes.team ->> 'alice' as model_a,
    episodes.team ->> 'bob' as model_b,
    (runs.condition ->> 'size')::int as size,
    runs.condition ->> 'feedback_mode' as feedback_mode,
    episodes.seed,
    (runs.condition ->> 'history_length')::int as history_length,
    episodes.max_turns,
    episodes.turns_taken as turns,
    (episodes.details ->> 'complete')::boolean as complete,
    episodes.success as solved,
    facts.solved_turn,
    facts.solved_turn_a,
    facts.solved_turn_b,
    facts.progress,
    facts.writes_per_position_a,
    facts.writes_per_position_b,
    (facts.writes_per_position_a + facts.writes_per_position_b) / 2 as writes_per_position,
    facts.changes_per_position_a,
    facts.changes_per_position_b,
    facts.optimal_changes_per_position_b,
    coalesce(counted.overcorrections, 0) as overcorrections,
    coalesce(counted.undoing_actions, 0) as undoing_actions,
    coalesce(counted.invalid_actions, 0) as invalid_actions,
    coalesce(counted.answers, 0) as answers,
    coalesce(counted.no_json, 0) as no_json,
    coalesce(counted.repeated_messages, 0) as repeated_messages,
    counted.output_tokens_a,
    counted.output_tokens_b,
    counted.message_tokens_a,
    counted.message_tokens_b,
    100 * counted.message_tokens_a / nullif(counted.output_tokens_a, 0) as message_share_a,
    100 * counted.message_tokens_b / nullif(counted.output_tokens_b, 0) as message_share_b,
    runs.condition ->> 'tokenizer' as tokenizer
from episodes
inner join runs using (run_id)
inner join run_conditions using (run_id)
left join facts using (episode_id)
left join counted using (episode_id)
where episodes.benchmark = 'asympuzl' and coalesce(runs.condition ->> 'solo', 'false') = 'false';
