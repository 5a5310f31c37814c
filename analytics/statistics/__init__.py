"""Intervals and tests that respect games as clusters."""
