"""What cotrace does when everything goes wrong: kills, misbehaving servers, long work, and mutants of its own code."""
