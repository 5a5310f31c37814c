"""Scripted players: they act on what a player may see, and err in ways that are known beforehand.

============ ===================================================================================
``mind``     a decision, what follows from what a player sees, and sensible play
``personas`` habits that go wrong, and players as data: how often each follows which habit
``speech``   decisions and steps of a solution in words (`wording.yaml`, `traces.yaml`)
``team``     a player that remembers, two of them in a game, and what is true of their steps
============ ===================================================================================
"""
