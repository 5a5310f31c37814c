"""Two games beside one another."""
