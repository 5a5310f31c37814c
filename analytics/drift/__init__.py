"""Whether a judge answers otherwise than it did."""
