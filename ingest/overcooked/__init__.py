"""Collab-Overcooked: the published `experiment_*.json`."""
