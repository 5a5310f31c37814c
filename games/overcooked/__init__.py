"""Collab-Overcooked: a Chef and an Assistant cook thirty orders in a kitchen that neither reaches all of."""
