"""Trajectory and collaboration metrics of Collab-Overcooked."""
