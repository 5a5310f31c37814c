"""Plays each of the four games with scripted players, turn by turn, as lines of its step log."""
