"""What goes with what: effects, correlations, and what passes through messages."""
