-- agreement_confusion: how often each pair of answers occurs between two raters.
-- One row is (rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, answer_b) that occurs.
--   rubric  text  name of the rubric
--   question  text  question inside the rubric
--   kind  text  label_judge, judge_judge or self, as in answer_pairs
--   rater_a  text  the labels' source, or a judge
--   variant_a  text  variant of that judge; null: none, or labels
--   rater_b  text  the judge
--   variant_b  text  variant of that judge; null: none
--   answer_a  text  lower case, without slashes
--   answer_b  text  likewise
--   n  count  pairs
-- Report: confusion, ordered by rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, n desc, answer_b
-- Shows: question, rater_a, rater_b, answer_a, answer_b, n
-- Reads: answer_pairs.
create or replace view agreement_confusion as

select rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, answer_b, count(*) as n
from answer_pairs
where answer_a is not null and answer_b is not null
group by all;
