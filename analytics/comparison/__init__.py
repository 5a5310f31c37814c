"""What holds between teams: differences, what goes with what, and how much data it takes to see it."""
