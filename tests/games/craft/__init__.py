"""Tests of games, craft."""
