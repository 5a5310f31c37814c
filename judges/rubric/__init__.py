"""A rubric: its model, and the typed answers made from it; `judges.rubric_files` reads the files that rubrics stand in."""
