"""The rules of CRAFT as the released engine has them: blocks, board, moves, checks, candidates."""
