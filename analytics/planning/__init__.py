"""How much is enough: games, tasks, judges."""
