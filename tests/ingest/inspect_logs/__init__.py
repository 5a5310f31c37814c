"""Tests of ingest, inspect_logs."""
