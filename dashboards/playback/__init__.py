"""What the page Game is made of: the facts of a game's turns, the timeline, what was said, what happened."""
