"""Tests of judges, coordination."""
