-- verdict_costs: what each verdict took: a request that answers several questions is shared among its answers.
-- One row is a verdict that came from a request to a model.
--   judge_run_id  text  the scoring job
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   judge  text  `llm:<model>`
--   variant  text  variant of the rubric; null: none
--   unit_id  text  what was judged
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose turn or utterance; null for a group
--   repeat  number  from 1
--   status  text  answered, undecided or failed
--   answers_of_call  count  verdicts that the request gave
--   calls  number  requests sent for it, retries included: those of the call over its verdicts
--   tokens_in  tokens  prompt tokens likewise
--   tokens_out  tokens  reply tokens likewise
--   cost_usd  USD  cost likewise; null if no price is known
--   latency_s  s  of the request as a whole
-- Report: verdict-costs, ordered by cost_usd desc nulls last, tokens_out desc, rubric, question, unit_id, repeat
-- Shows: rubric, question, judge, unit_id, status, tokens_in, tokens_out, cost_usd
-- Reads: verdicts, calls.
create or replace view verdict_costs as

with shared as (
    select *, count(*) over (partition by call_id) as answers_of_call
    from verdicts
    where call_id is not null
)

select
    shared.judge_run_id,
    shared.rubric,
    shared.question,
    shared.judge,
    shared.variant,
    shared.unit_id,
    shared.episode_id,
    shared.turn,
    shared.agent,
    shared.repeat,
    shared.status,
    shared.answers_of_call,
    calls.attempts / shared.answers_of_call as calls,
    calls.tokens_in / shared.answers_of_call as tokens_in,
    calls.tokens_out / shared.answers_of_call as tokens_out,
    calls.cost / shared.answers_of_call as cost_usd,
    calls.latency_s
from shared
inner join calls using (call_id);
