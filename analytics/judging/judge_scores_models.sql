-- judge_scores_models: how each judge answered each question, by evaluated model, over all turns.
-- One row is (rubric, question, judge, variant, benchmark, condition, model).
-- Columns as in: judge_scores_by.
-- Report: judges, ordered by rubric, question, judge, variant, model, condition
-- Shows: rubric, question, judge, model, units, scored_units, score_mean, na, undecided, failed, bare_reasons, contradicting_reasons
-- Reads: judge_scores_by.
create or replace view judge_scores_models as

select * exclude (outcome) from judge_scores_by(false);
