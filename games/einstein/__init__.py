"""Einstein Puzzles on a tabletop: two players, each with part of the rules, sort objects into bins.

Source of the rules: arXiv 2510.25595 and the behaviour of its released code. Where the two differ, ``rules`` names the
difference; the sane reading is the default, the published one is what logs were written by (docs/einstein.md).

Modules, from facts to play:

========================= ===========================================================
``bins``                  seven bins, reach, relations and their composition
``items``                 groundings and relations
``knowledge``             what follows from items
``puzzle``                game ids
``generator``             puzzles from a seed
``modes``                 the four communicative action spaces
``actions``               moves, shares, asks, passes, and their grammar
``rules``                 sane or published
``table``                 the state of a game
``options``               what the player to move may sensibly do
``engine``                one step
``verifiers``             filters over several answers
``planner``               shortest solutions
``labels``                the error taxonomy
``replay``                a logged game, recomputed
``prompts``               what a player is told
``dialog``                the published log of a game
``metrics``               numbers of games, runs and errors
``table_json``            the state as JSON
``game``                  the environment
``players``               scripted players
``match``                 one game between two of them
``match_log``             that game as cotrace's own log
``play``                  whole experiments
========================= ===========================================================
"""
