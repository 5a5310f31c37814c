"""Tests of analytics.courses."""
