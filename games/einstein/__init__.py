"""Einstein Puzzles on a tabletop: two players, each with part of the rules, sort objects into bins.

Source of the rules: arXiv 2510.25595 and the behaviour of its released code. Where the two differ, ``engine.table.Rules`` names the
difference; the sane reading is the default, the published one is what logs were written by (docs/dev/benchmark_rules.md).

From facts to play:

============== ==========================================================================
``engine``     the rules: bins, puzzles, knowledge, action spaces, actions, one step
``prompts``    what a player is shown at each step
``replay``     filters over several answers, and a logged game, recomputed
``labels``     the error taxonomy
``measures``   numbers of games, and shortest solutions
``value``      how many steps a game still needs, at best
``claims``     what a player's thoughts can claim, whoever reads them
``game``       the environment: who acts next, what a player may see; a game as cotrace's own log
``dialog``     the published log of a game
``players``    scripted players
``setup``      games of models, scripts and people; logged games with a changed move
``experiment`` what a file of an experiment can ask for, what people are offered to write, games with one faulty player
``probes``     questions about states, with the answers of the rules
============== ==========================================================================
"""
