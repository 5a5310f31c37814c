"""Rubrics, the judges that answer them, the runner and agreement with truth and people.

From the ground up: `rubric` (the model of a rubric file) and `batches` (a provider's batches); `evidence` (what a judge may see: games as
objects, pieces of evidence, units, prompts, probes, labelling tables); `claims` (what texts state, read by rules or a model) and `engine`
(checks that answer a question by rule); `rubric_files` (files found, read, checked) and `runs` (a model or the engine over many units);
`attribution` and `optimization`. A folder per benchmark has what only its games need: `rubrics`, `pieces`, `reading`, `checks`,
`attribution`, `perturbations`; all are found by name (`schemas.families`).
"""

ROOM_OF = "cotrace"
