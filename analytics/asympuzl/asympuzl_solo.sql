-- asympuzl_solo: the control experiment of AsymPuzl: one agent with the clues of both, one attempt.
-- One row is a configuration: model, size and tokenizer. Games without an end are left out.
--   model  text  the agent's model
--   size  number  positions of the puzzle
--   tokenizer  text  who counted tokens
--   games  count  complete games: the denominator of all rates
--   games_cut  count  games without an end; in no other number
--   solved  count  games in which the one answer made the hypothesis right
--   success_pct  percent  100 * solved / games
--   ci95_low  percent  lower end of its 95 % Wilson interval
--   ci95_high  percent  upper end
--   progress  0..1  mean share of right entries
--   output_tokens  tokens  mean length of the answer
-- Reads: episodes, intervals, runs, turn_metrics.
create or replace view asympuzl_solo as

with games as (
    select
        episodes.model,
        episodes.success,
        episodes.score,
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
        model,
        size,
        tokenizer,
        count(*) filter (complete) as games,
        count(*) filter (not complete) as games_cut,
        count(*) filter (complete and success) as solved,
        avg(score) filter (complete) as progress,
        avg(output_tokens) filter (complete) as output_tokens
    from games
    group by all
)

select
    model,
    size,
    tokenizer,
    games,
    games_cut,
    solved,
    100 * solved / nullif(games, 0) as success_pct,
    100 * wilson_low(solved, games) as ci95_low,
    100 * wilson_high(solved, games) as ci95_high,
    progress,
    output_tokens
from counted;
