"""Views of LLM-Coordination."""
