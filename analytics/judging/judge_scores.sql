-- judge_scores: how each judge answered each question, by evaluated model and by what became of the turn.
-- One row is (rubric, question, judge, variant, benchmark, condition, model, outcome).
-- Columns as in: judge_scores_by.
-- Reads: judge_scores_by.
create or replace view judge_scores as

select * from judge_scores_by(true);
