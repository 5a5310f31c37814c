"""The environments and their agents: they play games and write structured logs."""

ROOM_OF = "cotrace"
