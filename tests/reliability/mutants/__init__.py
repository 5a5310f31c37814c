"""Mutation testing: small changes to the code that decides numbers, each of which some test must notice."""
