"""Scripted AsymPuzl players: one that plays well, and one for every misbehaviour that the labels know."""
