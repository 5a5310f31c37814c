"""What judges and engine checks need to know of Einstein puzzles."""
