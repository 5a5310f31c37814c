"""A second look: which claims the words bear out, what was left over, and who is said to see a place."""
