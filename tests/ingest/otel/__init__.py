"""Tests of ingest, otel."""
