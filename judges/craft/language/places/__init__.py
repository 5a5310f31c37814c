"""The board as a director speaks of it, and what a group of words points to there."""
