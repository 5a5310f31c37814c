"""Scoring runs: planned, asked, journaled, stored."""
