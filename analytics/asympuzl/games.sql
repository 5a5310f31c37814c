-- asympuzl_solo: the control experiment of AsymPuzl: one agent with the clues of both, one attempt.
-- One row is a configuration: model, size and tokenizer. Games without an end are left out.
create or replace view asympuzl_solo as
with games as (
    select
        episodes.model, episodes.success, episodes.score,
        (runs.condition ->> 'size')::int as size,
        runs.condition ->> 'tokenizer' as tokenizer,
        (episodes.details ->> 'complete')::boolean as complete,
        turn_metrics.value as output_tokens
    from episodes
    inner join runs using (run_id)
    left join turn_metrics on episodes.episode_id = turn_metrics.episode_id and turn_metrics.metric = 'asympuzl.output_tokens_a'
    where episodes.benchmark = 'asympuzl' and coalesce(runs.condition ->> 'solo', 'false') = 'true'
),

counted as (
    select
        model, size, tokenizer,
        count(*) filter (complete) as games,
        count(*) filter (not complete) as games_cut,
        count(*) filter (complete and success) as solved,
        avg(score) filter (complete) as progress,
        avg(output_tokens) filter (complete) as output_tokens
    from games
    group by all
)

select
    model, size, tokenizer, games, games_cut, solved,
    100 * solved / nullif(games, 0) as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high,
    progress, output_tokens
from counted;

-- asympuzl_games: AsymPuzl games of two; those of one agent with all clues are in asympuzl_solo.
-- One row is a game.
create or replace view asympuzl_games as
with facts as (
    from (select episode_id, metric[10:] as metric, value from episode_metrics where starts_with(metric, 'asympuzl.'))
    pivot (max(value) for metric in (
        'solved_turn', 'solved_turn_a', 'solved_turn_b', 'overall_progress', 'writes_per_position_a', 'writes_per_position_b',
        'changes_per_position_a', 'changes_per_position_b', 'optimal_changes_per_position_b'
    ) group by episode_id)
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
    episodes.benchmark, run_conditions.condition, episodes.model, episodes.level, episodes.file, episodes.episode_id,
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
    columns('^solved_turn(_.)?$')::bigint,
    facts.overall_progress as progress, facts.writes_per_position_a, facts.writes_per_position_b,
    (facts.writes_per_position_a + facts.writes_per_position_b) / 2 as writes_per_position,
    facts.changes_per_position_a, facts.changes_per_position_b, facts.optimal_changes_per_position_b,
    coalesce(columns(counted.* exclude (episode_id, output_tokens_a, output_tokens_b, message_tokens_a, message_tokens_b)), 0),
    counted.output_tokens_a, counted.output_tokens_b, counted.message_tokens_a, counted.message_tokens_b,
    100 * counted.message_tokens_a / nullif(counted.output_tokens_a, 0) as message_share_a,
    100 * counted.message_tokens_b / nullif(counted.output_tokens_b, 0) as message_share_b,
    runs.condition ->> 'tokenizer' as tokenizer
from episodes
inner join runs using (run_id)
inner join run_conditions using (run_id)
left join facts using (episode_id)
left join counted using (episode_id)
where episodes.benchmark = 'asympuzl' and coalesce(runs.condition ->> 'solo', 'false') = 'false';

-- asympuzl_configurations: AsymPuzl results, as in the paper's tables.
-- One row is a configuration: both models, size, feedback mode, history length and tokenizer. Games that are not complete are left out.
-- Report: asympuzl, ordered by model_a, model_b, size, feedback_mode, history_length
-- Listed: AsymPuzl: the paper's tables
-- Shows: model_a, model_b, size, feedback_mode, games, solved, success_pct
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
        model_a, model_b, size, feedback_mode, history_length, tokenizer,
        count(*) filter (complete) as games,
        count(*) filter (not complete) as games_cut,
        count(*) filter (complete and solved) as solved,
        avg(solved_turn) filter (complete and solved) as mean_solved_turn,
        avg(columns('^(optimal_)?(changes|writes)_per_position_.$')) filter (complete) as '\0',
        coalesce(sum(columns('^(overcorrections|undoing_actions|invalid_actions|answers|no_json|repeated_messages)$')) filter (complete), 0)::bigint as '\0',
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
    model_a, model_b, size, feedback_mode, history_length, tokenizer, games, games_cut, solved,
    100.0 * solved / nullif(games, 0) as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high,
    mean_solved_turn, writes_per_position_a, writes_per_position_b,
    (writes_per_position_a + writes_per_position_b) / 2 as writes_per_position,
    changes_per_position_a, changes_per_position_b, optimal_changes_per_position_b, overcorrections, undoing_actions,
    invalid_actions, answers, no_json, repeated_messages, output_tokens_a, output_tokens_b, message_tokens_a,
    message_tokens_b,
    100 * message_tokens_a / nullif(output_tokens_a, 0) as message_share_a,
    100 * message_tokens_b / nullif(output_tokens_b, 0) as message_share_b,
    output_tokens_per_game_a, output_tokens_per_game_b, message_tokens_per_game_a, message_tokens_per_game_b
from grouped;

-- asympuzl_success_by_turn: share of AsymPuzl games that are solved in at most k turns.
-- One row is a configuration (both models, size, feedback mode, history length) and a turn k, from 1 to the longest limit of its games. Games
-- that were never solved stay in the denominator; games that are not complete are left out.
create or replace view asympuzl_success_by_turn as
with finished as (
    select *
    from asympuzl_games
    where complete
),

longest as (
    select model_a, model_b, size, feedback_mode, history_length, max(coalesce(max_turns, turns)) as turns
    from finished
    group by all
),

limits as (
    select * exclude (turns), unnest(range(1, turns + 1)) as k
    from longest
),

counted as (
    select
        limits.*,
        count(*) as games,
        count(*) filter (finished.solved and finished.solved_turn <= limits.k) as solved
    from limits
    inner join finished
        on limits.model_a = finished.model_a
        and limits.model_b = finished.model_b
        and limits.size = finished.size
        and limits.feedback_mode = finished.feedback_mode
        and limits.history_length is not distinct from finished.history_length
    group by all
)

select
    model_a, model_b, size, feedback_mode, history_length, k, games, solved,
    100.0 * solved / games as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high
from counted;
