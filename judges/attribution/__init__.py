"""Who is at fault for a turn's loss: the first failure point between what was known and what was done.

``findings``  failure points, and what a family's attribution gives
``job``       attributes the games of a store
``decisive``  the rubric of the decisive error: who, and at which turn
``asking``    has a model name it for the selected games
``thumb``     rules of thumb for it, as baselines
"""
