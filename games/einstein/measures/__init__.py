"""Numbers of Einstein games, and the planner they compare with."""
