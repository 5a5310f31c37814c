"""Continuations: a logged game is taken up at one of its turns and goes on otherwise."""
