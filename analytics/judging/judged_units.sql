-- judged_units: the verdicts that count, each beside its game; what both have under one name says whose it is.
-- One row is (rubric, question, judge, variant, unit_id, repeat), as in verdicts_latest.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   judge  text  `engine`, `engine:<reader>` where other than its rules read the texts, or `llm:<model>`
--   variant  text  variant of the rubric (visible evidence changed on purpose); null: none
--   unit_id  text  the judged unit
--   repeat  number  which of several askings of the same question, from 1
--   episode_id  text  the game
--   turn  number  from 1; null for a whole game
--   agent  text  whose utterance or turn; null for a group
--   answer  text  one of the rubric's answers; null unless answered
--   verdict_score  0..1  the rubric's number for the answer; null for N/A and where there is no answer
--   verdict_status  text  answered, undecided, failed or skipped
--   verdict_reason  text  the judge's reason, or what failed; null if it gave none
--   benchmark  text  its benchmark
--   team_name  text  the team in short, as in team_names
--   condition  text  the condition of the run, as in run_conditions
--   game_model  text  the evaluated model of the game; the judge's stands in `judge`
--   task_id  text  the structure, puzzle, order or question
--   level  text  the task's tier; null if the log does not say
--   ending  text  ended, cut or not_set_up, as in games
--   game_score  number  the benchmark's main end-to-end metric; null unless the game ended
--   game_success  flag  the goal was reached; null unless the game ended, or if the log does not say
-- Reads: verdicts_latest, games, team_names.
create or replace view judged_units as

select
    verdicts_latest.rubric,
    verdicts_latest.question,
    verdicts_latest.judge,
    verdicts_latest.variant,
    verdicts_latest.unit_id,
    verdicts_latest.repeat,
    verdicts_latest.episode_id,
    verdicts_latest.turn,
    verdicts_latest.agent,
    verdicts_latest.answer,
    verdicts_latest.score as verdict_score,
    verdicts_latest.status as verdict_status,
    verdicts_latest.reason as verdict_reason,
    games.benchmark,
    team_names.team_name,
    games.condition,
    games.model as game_model,
    games.task_id,
    games.level,
    games.ending,
    games.score as game_score,
    games.success as game_success
from verdicts_latest
inner join games on verdicts_latest.episode_id = games.episode_id
left join team_names on games.episode_id = team_names.episode_id;
