"""How many steps an Einstein game still needs, at best (formats/values.md, section 1).

``hands``     with perfect knowledge
``search``    with what the two players can know
``distances`` both, for the positions of a game
"""
