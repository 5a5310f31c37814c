"""Tests of analytics, einstein."""
