"""AsymPuzl: two agents with different clues complete one symbolic puzzle together (docs/asympuzl.md)."""
