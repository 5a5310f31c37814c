"""The environments and their agents: they play games and write structured logs."""

PACKAGE_OF = "cotrace"
