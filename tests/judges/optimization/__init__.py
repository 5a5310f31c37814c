"""Tests of judges, optimization."""
