"""The file that `cotrace rubric new` writes: a commented rubric that passes `cotrace rubric check` and is meant to be edited."""

from __future__ import annotations

import re

import yaml

from schemas.errors import UsageError

__all__ = ["template"]

_TEMPLATE = """\
# One judge, its questions, and all that it may see. Edit, then: cotrace rubric check {name}.yaml
name: {written}
version: 1                      # raise it when an answer could change; verdicts keep the file's hash
source: our own question        # where the questions come from
unit: agent_turn                # what one judgment looks at: utterance, action, event, agent_turn, turn, episode, pair or row
benchmarks: [craft]
roles: [director]               # whose turns are judged; leave it out for everybody
about: public_message           # the piece that is judged: without it a unit is skipped, not asked
# The visible evidence: what is not listed cannot reach the prompt.
shows: [judged_agent, history, other_messages, public_message]
answers: {{"yes": 1, "no": 0, unclear: 0.5, na: null}}    # quoted: bare yes and no are booleans in YAML
repeats: 1                      # how often each unit is asked
instructions: |
  Several directors tell a builder what to do. Judge the public message of one of them.
questions:
  Q1:
    ask: Does the message acknowledge that another director wants something else?
    na_when: no other director wants something else
    # engine: craft.MM7         # a deterministic check that knows the truth, if there is one
    examples:                   # one for every answer
      "yes": it says "D2 wants yellow there, but let us place blue first"
      "no": it asks for blue where another director has just asked for yellow, as if nothing had been said
      unclear: it says "ignore the other request" without saying which
      na: nobody else has spoken about that place
"""


def template(name: str) -> str:
    """A rubric file of that name to start from.

    Raises:
        UsageError: the name is no plain word.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"rubric name {name!r}: use small letters, digits and _, beginning with a letter, such as acknowledges_conflict")
    written = name if yaml.safe_load(name) == name else f'"{name}"'  # on, yes, null: words that YAML takes for something else
    return _TEMPLATE.format(name=name, written=written)
