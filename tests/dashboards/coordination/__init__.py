"""Tests of dashboards, coordination."""
