"""Batches in the manner of OpenAI: submitted, found again, and their replies."""
