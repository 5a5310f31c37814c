"""Trajectory and collaboration metrics of Collab-Overcooked, and its references."""
