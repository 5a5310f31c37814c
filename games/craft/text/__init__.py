"""What CRAFT agents are shown and how their answers are read."""
