"""Avalon: games, missions, proposals and votes, and what each player could prove."""
