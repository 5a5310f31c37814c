"""Collab-Overcooked: what judges are shown, and what the kitchen itself decides."""
