"""Tests of ingest, chat_lines."""
