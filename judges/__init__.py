"""Rubrics, the judges that answer them, the runner and agreement with truth and people.

From the ground up: `rubric` (the model of a rubric file) and `checks` (which answer a question by rule); `evidence` (what a judge may
see: games as objects, pieces of evidence, units, prompts, probes, labelling tables); `rubric_files` (files found, read, checked); `runs`
(a model or the engine over many units, batches too); `claims` (what texts state, read by rules or a model); `attribution` and
`optimization`. A folder per benchmark has what only its games need: `rubrics`, `pieces`, `reading`, `checks`, `attribution`,
`perturbations`; all are found by name (`schemas.families`).
"""

PACKAGE_OF = "cotrace"
