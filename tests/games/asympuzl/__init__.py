"""Tests of games, asympuzl."""
