"""Einstein Puzzles on a tabletop: two players, each with part of the rules, sort objects into bins."""
