"""Tests of schemas, lake."""
