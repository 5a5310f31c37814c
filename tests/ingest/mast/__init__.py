"""Tests of ingest, mast."""
