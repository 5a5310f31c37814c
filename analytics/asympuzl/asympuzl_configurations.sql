-- asympuzl_configurations: AsymPuzl results, as in the paper's tables.
-- One row is a configuration: both models, size, feedback mode, history length and tokenizer. Games that are not complete are left out.
--   model_a  text  model of A
--   model_b  text  model of B
--   size  number  positions of the puzzle
--   feedback_mode  text  none, own, own_detailed, joint, both or both_detailed
--   history_length  number  messages of each agent that are shown; null if the log does not say
--   tokenizer  text  who counted tokens; null if the log does not say
--   games  count  complete games: the denominator of all rates
--   games_cut  count  games without an end, or with lost turns; in no other number
--   solved  count  games solved within the limit
--   success_pct  percent  100 * solved / games
--   ci95_low  percent  lower end of its 95 % Wilson interval
--   ci95_high  percent  upper end
--   mean_solved_turn  turns  mean over the solved games alone; null without one
--   writes_per_position_a  number  valid actions of A on a position, mean over positions and games
--   writes_per_position_b  number  the same of B
--   writes_per_position  number  mean of the two
--   changes_per_position_a  number  valid actions of A that changed a value, mean over positions and games; the optimum is 1
--   changes_per_position_b  number  the same of B
--   optimal_changes_per_position_b  number  the fewest B can do with, mean over games
--   overcorrections  count  actions that made a right entry wrong
--   undoing_actions  count  actions that took back a right entry or changed a position again
--   invalid_actions  count  actions that were skipped
--   answers  count  agent turns
--   no_json  count  agent turns without a JSON object
--   repeated_messages  count  agent turns that said the same as before
--   output_tokens_a  tokens  mean over all turns of A (long games weigh more, as in the paper); null if the logs do not count
--   output_tokens_b  tokens  the same of B
--   message_tokens_a  tokens  mean over all turns of A; null if the logs do not count
--   message_tokens_b  tokens  the same of B
--   message_share_a  percent  message_tokens_a / output_tokens_a, ratio of the means; null if the logs do not count
--   message_share_b  percent  the same of B
--   output_tokens_per_game_a  tokens  mean over games of each game's mean; null if the logs do not count
--   output_tokens_per_game_b  tokens  the same of B
--   message_tokens_per_game_a  tokens  mean over games of each game's mean; null if the logs do not count
--   message_tokens_per_game_b  tokens  the same of B
-- Report: asympuzl, ordered by model_a, model_b, size, feedback_mode, history_length
-- Shows: model_a, model_b, size, feedback_mode, games, solved, success_pct
-- Reads: asympuzl_games, asympuzl_turns, intervals.
create or replace view asympuzl_configurations as

with tokens as (
    select
        episode_id,
        sum(output_tokens) filter (agent = 'A') as output_a,
        sum(output_tokens) filter (agent = 'B') as output_b,
        sum(message_tokens) filter (agent = 'A') as message_a,
        sum(message_tokens) filter (agent = 'B') as message_b,
        count(output_tokens) filter (agent = 'A') as answers_a,
        count(output_tokens) filter (agent = 'B') as answers_b
    from asympuzl_turns
    group by all
),

grouped as (
    select
        model_a,
        model_b,
        size,
        feedback_mode,
        history_length,
        tokenizer,
        count(*) filter (complete) as games,
        count(*) filter (not complete) as games_cut,
        count(*) filter (complete and solved) as solved,
        avg(solved_turn) filter (complete and solved) as mean_solved_turn,
        avg(writes_per_position_a) filter (complete) as writes_per_position_a,
        avg(writes_per_position_b) filter (complete) as writes_per_position_b,
        avg(changes_per_position_a) filter (complete) as changes_per_position_a,
        avg(changes_per_position_b) filter (complete) as changes_per_position_b,
        avg(optimal_changes_per_position_b) filter (complete) as optimal_changes_per_position_b,
        coalesce(sum(overcorrections) filter (complete), 0)::bigint as overcorrections,
        coalesce(sum(undoing_actions) filter (complete), 0)::bigint as undoing_actions,
        coalesce(sum(invalid_actions) filter (complete), 0)::bigint as invalid_actions,
        coalesce(sum(answers) filter (complete), 0)::bigint as answers,
        coalesce(sum(no_json) filter (complete), 0)::bigint as no_json,
        coalesce(sum(repeated_messages) filter (complete), 0)::bigint as repeated_messages,
        sum(output_a) filter (complete) / nullif(sum(answers_a) filter (complete), 0) as output_tokens_a,
        sum(output_b) filter (complete) / nullif(sum(answers_b) filter (complete), 0) as output_tokens_b,
        sum(message_a) filter (complete) / nullif(sum(answers_a) filter (complete), 0) as message_tokens_a,
        sum(message_b) filter (complete) / nullif(sum(answers_b) filter (complete), 0) as message_tokens_b,
        avg(output_tokens_a) filter (complete) as output_tokens_per_game_a,
        avg(output_tokens_b) filter (complete) as output_tokens_per_game_b,
        avg(message_tokens_a) filter (complete) as message_tokens_per_game_a,
        avg(message_tokens_b) filter (complete) as message_tokens_per_game_b
    from asympuzl_games
    left join tokens using (episode_id)
    group by model_a, model_b, size, feedback_mode, history_length, tokenizer
)

select
    model_a,
    model_b,
    size,
    feedback_mode,
    history_length,
    tokenizer,
    games,
    games_cut,
    solved,
    100.0 * solved / nullif(games, 0) as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high,
    mean_solved_turn,
    writes_per_position_a,
    writes_per_position_b,
    (writes_per_position_a + writes_per_position_b) / 2 as writes_per_position,
    changes_per_position_a,
    changes_per_position_b,
    optimal_changes_per_position_b,
    overcorrections,
    undoing_actions,
    invalid_actions,
    answers,
    no_json,
    repeated_messages,
    output_tokens_a,
    output_tokens_b,
    message_tokens_a,
    message_tokens_b,
    100 * message_tokens_a / nullif(output_tokens_a, 0) as message_share_a,
    100 * message_tokens_b / nullif(output_tokens_b, 0) as message_share_b,
    output_tokens_per_game_a,
    output_tokens_per_game_b,
    message_tokens_per_game_a,
    message_tokens_per_game_b
from grouped;
