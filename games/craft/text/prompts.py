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

__all__ = ["builder_messages", "director_messages", "simulated_note"]

_NOBODY: Final = "(nobody has said anything yet)"
_SILENT: Final = "(no director has said anything)"


def director_messages(seen: DirectorObservation, archetype: Archetype) -> list[Message]:
    """Give what a director is told and shown; targets of others, candidates and turns left are in no part of it."""
    texts = texts_of(__package__)
    slots = {
        "director": seen.director,
        "archetype": archetype,
        "personality": texts["personalities"][archetype],
        "cells": ", ".join(WALLS[seen.director]),
        "board": _joined({director: _view_text(view) for director, view in seen.board_views.items()}),
        "target": _view_text(seen.target_view),
        "history": "\n".join(seen.history) or _NOBODY,
    }
    return _chat(texts["director_system"].format(**slots), texts["director"], slots)


def builder_messages(seen: BuilderObservation, *, oracle: bool, simulations: int = 0, provider_tool: bool = False) -> list[Message]:
    """Give what the builder is told and shown: the board and this turn's messages; no target, no history.

    ``simulations``: how many moves it may try before it decides; ``provider_tool``: by a tool of its provider's protocol.
    """
    texts = texts_of(__package__)
    slots = {
        "board": json.dumps(seen.board.structure_json(ghosts=True)),
        "candidates": _candidates(seen.listed),
        "discussion": seen.discussion or _SILENT,
        "simulations": str(simulations),
    }
    kind = "tools" if simulations else "oracle" if oracle and seen.listed else "plain"
    parts = [*texts["builder"], texts["builder_provider_tool" if provider_tool else "builder_tools"]] if simulations else texts["builder"]
    return _chat(texts["builder_system"][kind].format(**slots), parts, slots)


def simulated_note(results: Sequence[str], left: int) -> str:
    """How many calls are left; without results: that too many were made."""
    texts = texts_of(__package__)
    go_on: str = texts["simulated"]["more" if left else "none"].format(left=left).strip()
    return go_on if results else f"{texts['simulated']['too_many'].strip()}\n{go_on}"


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
