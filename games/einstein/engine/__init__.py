"""The rules of Einstein Puzzles: puzzle, table, knowledge, actions, one step."""
