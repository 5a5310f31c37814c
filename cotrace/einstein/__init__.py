"""The commands of Einstein Puzzles."""
