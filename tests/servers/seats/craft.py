"""What a script would say at CRAFT's table, out of a prompt alone."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

from games.craft.engine.board import Board, Director, View, ViewedBlock
from games.craft.engine.rules import Move
from games.craft.players import plain
from games.craft.text.prompts import BuilderObservation, DirectorObservation
from games.craft.text.replies import CALL

DIRECTORS: tuple[Director, ...] = get_args(Director)
NO_MESSAGES = "(no director has said anything)"


def view(rows: dict[str, list[dict[str, Any]]]) -> View:
    """A view out of the JSON of a prompt."""
    return tuple(tuple(ViewedBlock(block["color"], block["size"]) for block in rows[f"row_{layer}"]) for layer in range(3))


def after(text: str, heading: str) -> str:
    """The paragraph below a heading."""
    return text.split(heading + "\n", 1)[1].split("\n\n", 1)[0]


def answer(messages: list[dict[str, str]]) -> str | None:
    """What the plain script says to what a prompt of CRAFT holds; None for another game's."""
    system, text = messages[0]["content"], messages[1]["content"]
    if "The board now" not in text:
        return None
    speaker = re.search(r"You are (D[123])\b", text) if "directors in a team" in system else None
    if speaker:
        (director,) = (name for name in DIRECTORS if name == speaker[1])
        walls = json.loads(after(text, "The board now, all three walls:"))
        return plain.director(
            DirectorObservation(
                director=director,
                turn=0,
                target_view=view(json.loads(after(text, "Your target:"))),
                board_views={name: view(walls[name]) for name in DIRECTORS},
                history=(),
            )
        )
    stacks = json.loads(after(text, "The board now, each stack from the bottom up:").splitlines()[0])
    said = after(text, "What the directors say this turn:")
    listed = tuple(candidate(line) for line in text.splitlines() if re.match(r"(PLACE \w\w at|REMOVE from) ", line))
    tried = tuple(
        line
        for message in messages[2:]
        if message["role"] in ("user", "tool")
        for line in message["content"].splitlines()
        if line.startswith("{")
    )
    seen = BuilderObservation(0, Board.from_json(stacks, {}), "" if said == NO_MESSAGES else said, listed, tried)
    return plain.simulating_builder(seen) if CALL in text or "simulate_move" in text else plain.builder(seen)


def candidate(line: str) -> Move:
    """A listed move out of its line."""
    found = re.fullmatch(r"(?:PLACE (\w\w) at|REMOVE from) (\S+) layer (\d)(?: spanning to (\S+))?", line)
    assert found
    return Move("place" if found[1] else "remove", found[1], found[2], int(found[3]), found[4])
