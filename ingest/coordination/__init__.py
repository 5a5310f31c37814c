"""LLM-Coordination: the four agentic games, native logs and console logs."""
