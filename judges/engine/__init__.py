"""The engine judge: deterministic checks that answer only what they can prove."""
