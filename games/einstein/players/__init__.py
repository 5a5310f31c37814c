"""Scripted players: they act on what a player may see, and err in ways that are known beforehand.

========================= ===========================================================
``mind``                  what follows from what a player sees
``intent``                a decision: the action, what the thoughts claim, the habit behind it
``sense``                 sensible play
``format_habits``         answers that the grammar does not read
``table_habits``          moves that the table refuses, or that follow no rule
``talk_habits``           sharing and asking gone wrong
``personas``              players as data: how often each falls into which habit
``player``                a player at the table: remembers what it saw, decides, speaks
``team``                  two of them, and labels of what they did
``speech``                thoughts in words (`wording.yaml`)
``traces``                why a step of a solution is taken, in words (`traces.yaml`)
``truth``                 what is true of a step by construction
========================= ===========================================================
"""
