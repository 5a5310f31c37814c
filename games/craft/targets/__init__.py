"""Target structures: read, generated, started from, and how far they can be reached."""
