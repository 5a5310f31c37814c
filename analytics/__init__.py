"""Metrics and statistics over the store: SQL views first, Python where SQL ends."""

ROOM_OF = "cotrace"
