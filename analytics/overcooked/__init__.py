"""Views of Collab-Overcooked."""
