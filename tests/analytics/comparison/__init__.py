"""Tests of comparisons between teams."""
