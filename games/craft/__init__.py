"""CRAFT: three directors who each know one wall of a target guide a builder who knows none.

Source of the rules: arXiv 2603.25268 and the behaviour of its released code. Where paper and
code differ, the modules follow the code, because logs were written by it.

From facts to play:

============== ==========================================================================
``engine``     the rules as released: blocks, board, moves, checks, verified candidates
``targets``    target structures: read, generated, started from, how far they are reached
``text``       what agents are shown, and how their answers are read
``measures``   scores of a board, readings of following, failure categories
``value``      what a board is still worth
``claims``     what a director's text can claim, whoever reads it
``game``       the environment: who acts next, what an agent may see, what its text does; a logged game, recomputed
``players``    scripted players
``setup``      games of models, scripts and people; logged games with a changed move
``experiment`` what a file of an experiment can ask for, what people are offered to write, games with one faulty player
``probes``     questions about states, with the engine's key
============== ==========================================================================
"""
