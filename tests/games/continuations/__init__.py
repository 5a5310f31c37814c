"""Tests of continuations."""
