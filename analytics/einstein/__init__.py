"""Views of Einstein Puzzles."""
