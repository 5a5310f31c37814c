"""Players of every game: models, scripts and people take a seat, get what their role may know, and give text."""
