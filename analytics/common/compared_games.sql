-- compared_games: each game with its team, its task and the bounds of its score: what teams are compared by.
-- One row is a game; as in games, one that the store has twice stands here once.
-- Columns as in: games.
--   team_name  text  the team in short, as in team_names
--   max_turns  turns  turn limit; null if the log does not say
--   run_name  text  name of the run; runs of one condition differ in it
--   task  text  the task by what it is: task_id, and where tasks of one id have different goals (such as targets made from different seeds)
--               the first characters of the goal's hash after it
--   game  text  the game, where scores of a benchmark's games have different units (coordination_score_bounds): teams are compared within one; else null
--   score_max  number  upper bound of the score, whose lower one is 0; null where none is known: as the family says (coordination_score_bounds),
--                      else 1 where no score of the benchmark leaves 0 to 1
-- Reads: games, episodes, runs, team_names, every family's score_bounds.
create or replace view compared_games as

with goals as (
    select benchmark, task_id, count(distinct goal::varchar) > 1 as has_several
    from episodes
    group by all
),

ranges as (
    select benchmark, min(score) >= 0 and max(score) <= 1 as is_share
    from episodes
    group by all
)

select
    games.*,
    team_names.team_name,
    episodes.max_turns,
    runs.name as run_name,
    case when goals.has_several then episodes.task_id || ' ' || left(md5(episodes.goal::varchar), 6) else episodes.task_id end as task,
    bounds.game,
    case when bounds.run_id is not null then bounds.score_max when ranges.is_share then 1 end as score_max
from games
inner join episodes using (episode_id)
inner join runs using (run_id)
inner join team_names using (episode_id)
inner join goals on episodes.benchmark = goals.benchmark and episodes.task_id is not distinct from goals.task_id
inner join ranges on episodes.benchmark = ranges.benchmark
left join every_family('score_bounds') as bounds using (run_id);
