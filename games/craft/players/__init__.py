"""Scripted players of CRAFT: directors with planted, known defects, and builders that go with them.

================ ==================================================================
``instruction``  what a director wants, or the part of it that a message says
``sight``        what a director may see and has heard
``plan``         a director's answer before it is put into words
``reading_habits``, ``request_habits``, ``removal_habits``, ``social_habits``
                 one function a behaviour: a sight in, a plan or nothing out
``personas``     directors as tables of habits
``grammar``      expands templates; ``speech`` puts plans into words (``wording.yaml``)
``builders``     builders as tables of behaviours; ``slips`` is what can go wrong in their lines
``truth``        the answers to rubric questions that a turn determines
================ ==================================================================
"""
