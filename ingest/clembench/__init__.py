"""clembench: dialogue games with a game master, one `interactions.json` an episode."""
