"""Formats of other people's logs: one module each; those that offer `FORMAT` are adapters."""
