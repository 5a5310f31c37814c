"""CRAFT: the published game JSON."""
