"""Tests of judges, einstein."""
