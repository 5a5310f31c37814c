"""Whose cost a turn was: the first broken link between what was known and what was done.

``findings``  links, and what a family's attribution gives
``job``       attributes the games of a store
``decisive``  the rubric of the decisive error: who, and at which turn
``asking``    has a model name it for the selected games
``thumb``     rules of thumb for it, as baselines
"""
