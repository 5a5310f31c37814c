"""Lockbox games out of cotrace's own log."""
