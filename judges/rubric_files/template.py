"""The file that `cotrace rubric new` writes: a commented rubric that passes `cotrace rubric check` and is meant to be edited."""

from __future__ import annotations

import difflib
import re
from typing import Final, NamedTuple

import yaml

from judges.rubric import UnitKind
from schemas.common.errors import UsageError
from schemas.families import families, family

_TEMPLATE = """\
# One judge, its questions, and all that it may see. Edit, then: cotrace rubric check {name}.yaml
name: {written}
version: 1                      # raise it when an answer could change; verdicts keep the file's hash
source: our own question        # where the questions come from
unit: agent_turn                # what one judgment looks at: utterance, action, event, agent_turn, turn, episode, window, pair or row
benchmarks: [craft]
roles: [director]               # whose turns are judged; leave it out for everybody
about: public_message           # the piece that is judged: without it a unit is skipped, not asked
# The visible evidence: what is not listed cannot reach the prompt.
shows: [judged_agent, said_before, public_message]
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


_DRAFT = """\
# A draft: write every TODO, then: cotrace rubric check {name}.yaml --store cotrace.duckdb
name: {written}
version: 1                      # raise it when an answer could change; verdicts keep the file's hash
source: TODO where the questions come from
unit: {unit}
benchmarks: [{benchmark}]
{roles}{about}# The visible evidence: what is not listed cannot reach the prompt (docs/rubric_files.md lists all pieces).
shows: [{shows}]
{unit_sql}answers: {{"yes": 1, "no": 0, unclear: 0.5, na: null}}    # quoted: bare yes and no are booleans in YAML
instructions: |
  TODO what the judge looks at, and what it has to know about the game.
questions:
  Q1:
    ask: TODO one question that the evidence above can answer?
    na_when: TODO when it does not apply; delete the line if it always does
    examples:                   # a case for every answer
      "yes": TODO
      "no": TODO
      unclear: TODO
      na: TODO
"""

_UNIT_SQL = """\
unit_sql: |                     # a row is a unit; a column for each piece in shows
  SELECT episode_id || '/' || turn AS unit_id, episode_id, turn, 'TODO' AS record FROM turns
"""


class _Shape(NamedTuple):
    """What a judge of a kind of unit sees at the least."""

    about: str | None
    shows: tuple[str, ...]


_SHAPES: Final[dict[UnitKind, _Shape]] = {
    "utterance": _Shape("utterance", ("judged_agent", "said_before", "utterance")),
    "agent_turn": _Shape("public_message", ("judged_agent", "said_before", "public_message")),
    "turn": _Shape("public_messages", ("history", "public_messages")),
    "episode": _Shape("dialogue", ("dialogue",)),
    "window": _Shape("conversation_window", ("conversation_window",)),
    "action": _Shape("action", ("history", "action", "action_outcome")),
    "event": _Shape(None, ("history", "public_messages")),
    "pair": _Shape(None, ("first_dialogue", "second_dialogue")),
    "row": _Shape(None, ("record",)),
}


def template(name: str) -> str:
    """A rubric file of that name to start from.

    Raises:
        UsageError: the name is no plain word.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"rubric name {name!r}: use small letters, digits and _, beginning with a letter, such as acknowledges_conflict")
    return _TEMPLATE.format(name=name, written=_written(name))


def draft(name: str, unit: UnitKind, benchmark: str) -> str:
    """A rubric file for a unit and a benchmark, with what only its author knows marked TODO: `check` refuses it until that is written.

    Raises:
        UsageError: the name is no plain word, or there is no such benchmark.
    """
    template(name)
    roles = _roles(benchmark)
    shape = _SHAPES[unit]
    return _DRAFT.format(
        name=name,
        written=_written(name),
        unit=unit,
        benchmark=benchmark,
        roles=f"# roles: [{', '.join(roles)}]         # whose turns are judged; all, if it is left out\n" if roles else "",
        about=f"about: {shape.about}\n" if shape.about else "",
        shows=", ".join(shape.shows),
        unit_sql=_UNIT_SQL if unit == "row" else "",
    )


def _written(name: str) -> str:
    return name if yaml.safe_load(name) == name else f'"{name}"'  # on, yes, null: words that YAML takes for something else


def _roles(benchmark: str) -> tuple[str, ...]:
    found = family(benchmark)
    if found is not None:
        return found.roles
    near = difflib.get_close_matches(benchmark, [known.name for known in families()], n=1)
    if near:
        raise UsageError(f"no benchmark {benchmark}: did you mean {near[0]}? (`any` is for all games)")
    return ()
