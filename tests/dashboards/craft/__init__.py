"""Tests of dashboards, craft."""
