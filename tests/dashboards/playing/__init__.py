"""Tests of playing in the browser."""
