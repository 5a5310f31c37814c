"""Tests of ingest, clembench."""
