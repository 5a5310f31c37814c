"""cotrace's own log, of every game."""
