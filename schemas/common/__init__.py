"""Small helpers that every package uses."""
