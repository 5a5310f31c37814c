"""Einstein Puzzles on a tabletop: two players, each with part of the rules, sort objects into bins.

Source of the rules: arXiv 2510.25595 and the behaviour of its released code. Where the two differ, ``engine.rules`` names the
difference; the sane reading is the default, the published one is what logs were written by (docs/dev/benchmark_rules.md).

From facts to play:

================ ==========================================================================
``engine``       the rules: bins, puzzles, knowledge, action spaces, actions, one step
``text``         what players are told, and the filters over their answers
``measures``     numbers of games, and shortest solutions
``value``        how many steps a game still needs, at best
``labels``       the error taxonomy
``claims``       what a player's thoughts can claim, whoever reads them
``game``         the environment: who acts next, what a player may see, what its answer does
``replay``       a logged game, recomputed
``dialog``       the published log of a game
``players``      scripted players
``match_log``    a game as cotrace's own log
``planted``      games with exactly one faulty player
``setup``        games of models, scripts and people
``forms``        what people are offered to write
``experiment``   what a file of an experiment can ask for
``continuation`` logged games with a changed move
================ ==========================================================================
"""
