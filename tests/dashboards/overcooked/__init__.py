"""Tests of dashboards, overcooked."""
