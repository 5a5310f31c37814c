"""Tests of games, einstein."""
