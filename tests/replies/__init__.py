"""Recorded replies of language models, read by all who ask them."""
