"""Einstein Puzzles: the published output folders."""
