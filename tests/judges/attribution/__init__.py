"""Whose cost a turn was."""
