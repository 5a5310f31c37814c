"""Scripted players of CRAFT: directors with planted, known defects, and builders that go with them.

============= ====================================================================================
``sight``     what a director may see and has heard, what it wants, and its plan of an answer
``directors`` habits (a sight in, a plan or nothing out), and personas as tables of habits
``speech``    puts plans into words (`wording.yaml`), and what can go wrong in the lines
``builders``  builders as tables of behaviours
``team``      players who remember, labels of what they did, and what their texts claim
``truths``    the answers to rubric questions that a turn determines
``plain``     scripts that know their observation alone
============= ====================================================================================
"""
