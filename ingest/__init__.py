"""One adapter per log format: foreign log -> records -> store."""

PACKAGE_OF = "cotrace"
