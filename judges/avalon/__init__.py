"""Avalon: evidence, engine checks, rubrics, and whom a lost mission is attributed to."""
