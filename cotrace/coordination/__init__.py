"""The commands of LLM-Coordination."""
