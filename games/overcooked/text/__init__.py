"""What Collab-Overcooked agents are shown, and how their answers are read."""
