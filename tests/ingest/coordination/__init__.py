"""Tests of ingest, coordination."""
