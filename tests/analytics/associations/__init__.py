"""Tests of analytics.associations."""
