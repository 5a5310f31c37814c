"""Tests of judges, craft."""
