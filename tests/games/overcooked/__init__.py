"""Tests of games, overcooked."""
