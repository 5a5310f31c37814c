"""Tests of dashboards, einstein."""
