"""Metrics and statistics over the store: SQL views first, Python where SQL ends."""

PACKAGE_OF = "cotrace"
