"""Tests of ingest, overcooked."""
