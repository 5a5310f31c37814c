"""Logs of Inspect AI (`.eval`, `.json`): every sample a game, every message a turn, scores as numbers of the game."""
