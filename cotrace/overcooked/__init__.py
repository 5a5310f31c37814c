"""The commands of Collab-Overcooked."""
