"""Tests of ingest, parquet."""
