"""Tests of ingest, craft."""
