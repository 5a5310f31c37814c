"""What a CRAFT board is still worth: the highest progress that a number of moves can reach.

``position``  a board and its target as numbers, along the path of cells
``search``    the dynamic program over that path
``reach``     values of boards and of a game's turns
"""
