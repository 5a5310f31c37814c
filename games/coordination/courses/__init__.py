"""Players of LLM-Coordination: what a player receives in each game, and how its decisions come about."""
