"""What a CRAFT board is still worth: the highest progress that a number of moves can reach.

``position``  a board and its target as numbers, along the path of cells
``fills``     the ways to fill one cell, and what the cells to come can add at most
``search``    the dynamic program over that path, and values of boards and of a game's turns
"""
