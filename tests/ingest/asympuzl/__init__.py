"""Tests of ingest, asympuzl."""
