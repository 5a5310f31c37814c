"""OpenTelemetry spans of generative AI (OTLP JSON): every conversation a game, repeated histories read once."""
