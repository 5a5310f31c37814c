"""Rubric files: their model, how they are read, what can be wrong with them, and the typed answers made from them."""
