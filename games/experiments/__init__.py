"""Experiments: a file says which games are played by whom under which conditions, and its limits."""
