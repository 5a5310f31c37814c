"""Scripted players of Collab-Overcooked."""
