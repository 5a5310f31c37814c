"""Numbers and failure categories of CRAFT games."""
