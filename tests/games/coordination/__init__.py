"""Tests of games, coordination."""
