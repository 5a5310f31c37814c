"""The Overcooked of LLM-Coordination: layouts, engine, macro actions, scripted cooks."""
