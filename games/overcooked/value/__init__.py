"""The fewest steps in which an order of Collab-Overcooked can still be delivered: a bound from below.

The definition is cotrace's own, in the manner of formats/values.md.

``plan``   what is left wherever the agents stand
``left``   which work is left, read off the kitchen
``walks``  how long an agent takes from one action to the next
``bound``  how long all of it takes at least
"""
