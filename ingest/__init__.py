"""One adapter per log format: foreign log -> records -> store."""

ROOM_OF = "cotrace"
