"""Clauses to claims: drafts of what is asked for and stated, merged and put in order."""
