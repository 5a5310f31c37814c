"""Anybody at the tables of LLM-Coordination: what a player is told in each game, and how its decisions come about."""
