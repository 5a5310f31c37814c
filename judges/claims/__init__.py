"""What texts claim, and what may be concluded from it."""
