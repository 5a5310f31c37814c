"""Players of every game: models, scripts and people get what their role may know, and give text."""
