"""Hanabi for two: rules, listed moves, scripted players; games are refereed by OpenSpiel where it is installed."""
