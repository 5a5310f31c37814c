"""Numbers and error labels of Einstein games, and the planner they compare with."""
