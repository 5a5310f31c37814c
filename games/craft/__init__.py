"""CRAFT: three directors who each know one wall of a target guide a builder who knows none.

Source of the rules: arXiv 2603.25268 and the behaviour of its released code. Where paper and
code differ, the modules follow the code, because logs were written by it.

Modules, from facts to play:

========================= ===========================================================
``blocks``                cells, block codes, colours, walls
``board``                 the immutable board: stacks, span records, ghost cells
``move``                  the builder's move
``checks``                what a move has to pass, check by check
``rules``                 validation and execution
``errors``                error codes and the published messages
``flags``                 the flags of an accepted move
``views``                 what a director sees
``oracle``                verified candidates and their sampling
``removal``               how much of a candidate list is removal
``metrics``               five scores of a board against a target
``adherence``             did the builder follow a candidate
``taxonomy``              failure categories, published and repaired
``structures``            targets and structure files
``reachability``          can a target be completed, and its ceiling
``generator``             targets from a seed
``start_boards``          the board before turn 1
``archetypes``            director personalities
``builder``               the builder's line
``director_output``       thinking and message in a director's raw answer
``history``               the shared conversation
``replay``                a logged game, recomputed
``observations``          what an agent may see
``game``                  the environment
========================= ===========================================================
"""
