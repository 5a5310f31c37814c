"""The Resistance: Avalon: the rules as played, what each player can know, players, and the worth of a state."""
