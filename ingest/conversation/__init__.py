"""Conversations of any agents: one mapping from speakers, messages and outcomes to rows, for all foreign formats."""
