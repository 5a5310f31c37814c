"""LLM-Coordination (arXiv 2310.03903): its questions, its four games, and scripted players. Facts: docs/coordination.md."""
