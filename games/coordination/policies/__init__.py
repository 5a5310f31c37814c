"""Scripted players of the four games: each decides from the whole state, says why, and may do one thing wrong on purpose."""
