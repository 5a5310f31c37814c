"""Tests of analytics.planning."""
