"""The messages with which a language model plays CRAFT (after CRAFT, arXiv 2603.25268, appendix; the wording, in prompts.yaml, is ours)."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from games.craft.engine.blocks import WALLS
from games.craft.engine.move import Move
from games.craft.engine.views import View, views_json
from games.craft.text.archetypes import Archetype
from games.craft.text.observations import BuilderObservation, DirectorObservation
from games.players.texts import texts_of
from providers.messages import Message

_NOBODY: Final = "(nobody has said anything yet)"
_SILENT: Final = "(no director has said anything)"


def director_messages(seen: DirectorObservation, archetype: Archetype, rules: str = "sane") -> list[Message]:
    """Give what a director is told and shown; targets of others, candidates and turns left are in no part of it.

    What is the same for all directors comes first, so that a server's prefix cache serves them all; the form of the reply comes last.
    ``rules``: whose wording, ``sane`` or ``published`` (`games.craft.game.Rules`).
    """
    texts = texts_of(__package__)
    slots = {
        "director": seen.director,
        "archetype": archetype,
        "personality": texts["personalities"][archetype],
        "cells": ", ".join(WALLS[seen.director]),
        "board": _joined({director: _view_text(view) for director, view in seen.board_views.items()}),
        "target": _view_text(seen.target_view),
        "history": "\n".join(seen.history) or _NOBODY,
        "again": texts["director_again"].format(messages="\n".join(seen.said)) if seen.said else "",
        "unread": texts["director_unread"] if seen.unread else "",
    }
    return _chat(texts["director_system"][rules].format(**slots), _parts(texts["director"], rules), slots)


def builder_messages(
    seen: BuilderObservation, *, oracle: bool, simulations: int = 0, provider_tool: bool = False, rules: str = "sane"
) -> list[Message]:
    """Give what the builder is told and shown: the board and this turn's messages; no target, no history.

    ``simulations``: how many moves it may try before it decides; ``provider_tool``: by a tool of its provider's protocol; ``rules``: as in
    `director_messages`.
    """
    texts = texts_of(__package__)
    slots = {
        "board": json.dumps(seen.board.structure_json(ghosts=True)),
        "candidates": _candidates(seen.listed),
        "discussion": seen.discussion or _SILENT,
        "simulations": str(simulations),
        "choose": texts["builder_choose"]["listed" if oracle and seen.listed else "plain"],
        "unread": texts["builder_unread"].format(reason=seen.unread) if seen.unread else "",
    }
    kind = "tools" if simulations else "oracle" if oracle and seen.listed else "plain"
    (system,) = _parts([texts["builder_system"][kind]], rules)
    parts = _parts(texts["builder"], rules)
    if simulations:  # the form comes last; the published prompt has the tool there
        tool = texts["builder_provider_tool" if provider_tool else "builder_tools"]
        parts = [*parts, tool] if rules == "published" else [*parts[:-1], tool, parts[-1]]
    return _chat(system.format(**slots), parts, slots)


def simulated_note(results: Sequence[str], left: int) -> str:
    """How many calls are left; without results: that too many were made."""
    texts = texts_of(__package__)
    go_on: str = texts["simulated"]["more" if left else "none"].format(left=left).strip()
    return go_on if results else f"{texts['simulated']['too_many'].strip()}\n{go_on}"


def _parts(parts: Sequence[str | Mapping[str, str]], rules: str) -> list[str]:
    """The parts in that wording; one that only the other wording has is left out."""
    found = [part if isinstance(part, str) else part.get(rules, "") for part in parts]
    return [part for part in found if part]


def _chat(system: str, parts: Sequence[str], slots: dict[str, str]) -> list[Message]:
    told = [text for part in parts if (text := part.format(**slots).strip())]
    return [{"role": "system", "content": system.strip()}, {"role": "user", "content": "\n\n".join(told)}]


def _candidates(listed: Sequence[Move]) -> str:
    if not listed:
        return ""
    lines = "\n".join(_candidate(move) for move in listed)
    return (
        f"Verified moves, each brings the structure nearer to the target:\n{lines}\n"
        "Choose the one that at least one director asks for; if none clearly matches, CLARIFY."
    )


def _candidate(move: Move) -> str:
    place = f"at {move.position} layer {move.layer}" + (f" spanning to {move.span_to}" if move.span_to else "")
    return f"PLACE {move.block} {place}" if move.action == "place" else f"REMOVE from {place.removeprefix('at ')}"


@lru_cache(maxsize=4096)  # the target stays as it is, and all directors are shown the same board
def _view_text(view: View) -> str:
    """As JSON."""
    (rows,) = views_json({"D1": view}).values()
    return json.dumps(rows)


def _joined(texts: Mapping[str, str]) -> str:
    """A JSON object of values that are JSON already."""
    return "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in texts.items()) + "}"
