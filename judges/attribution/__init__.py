"""Whose cost a turn was: the first broken link between what was known and what was done.

``findings``  links, and what a family's attribution gives
``job``       attributes the games of a store
"""
