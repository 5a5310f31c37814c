"""Tests of ingest, einstein."""
