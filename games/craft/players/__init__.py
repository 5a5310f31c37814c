"""Scripted players of CRAFT: directors with planted, known defects, and builders that go with them.

=================== ==============================================================================
``instruction``     what a director wants, or the part of it that a message says
``sight``           what a director may see and has heard
``plan``            a director's answer before it is put into words
``request_habits``, ``removal_habits``, ``social_habits``
                    one function a behaviour: a sight in, a plan or nothing out
``personas``        directors as tables of habits
``grammar``         expands templates
``speech``          puts plans into words (`wording.yaml`)
``builders``        builders as tables of behaviours
``slips``           what can go wrong in their lines
``team``            players who remember, and labels of what they did
``facts``           what is known about a finished turn
``truth``           the answers to rubric questions that a turn determines, of the three rubrics:
``spatial_truth``, ``mind_truth``, ``pragmatic_truth``
``claims``          what their texts claim
``plain``           scripts for seats: they know their observation alone
=================== ==============================================================================
"""
