"""Tests of analytics.scales."""
