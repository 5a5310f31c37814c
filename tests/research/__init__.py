"""Tests of the measurements whose results are data."""
