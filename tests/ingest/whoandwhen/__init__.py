"""Tests of ingest, whoandwhen."""
