"""What a published player's CSV file says in a column of its own and again in the text that its model was shown, and where the two differ.

A column that a file does not have is not compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from games.coordination.players import PLAYERS
from ingest.reading.difference import Difference
from schemas.text import without_half_pairs

__all__ = ["hanabi_row_differences", "kitchen_row_differences"]

_QUOTED: Final = ("My Card Knowledge", "Partner Card Knowledge", "Soft Constraints", "Prev Actions", "Epistemic Information")
"""Columns whose text stands in the state as it is."""

_CARD: Final = re.compile(r"\[Card \d: (\w+ \d)\]")
_BOARD: Final = re.compile(
    r"We have (\d{1,9}) reveal tokens, (\d{1,9}) life tokens\. The discard pile consists (\[.*?\]) and the deck size is (\d{1,9})"
)
_TABLE: Final = re.compile(
    r"Remaining Reveal Tokens: (\d{1,9})\s+Remaining Lives: (\d{1,9})\s+Deck Size: (\d{1,9})\s+The discard pile is: (\[.*?\])"
)
_NOTHING_DONE: Final = "My Action History:"
_COUNTS: Final = {
    "_num_onions": "{name} contains {value} out of 3 onions",
    "_soup_in_cooker_status": "soup in {name} is {value}",
    "_cooker_status": "{name} is {value}",
    " object": "{name} contains {value}",
}
"""End of a column's name -> how the text says it, longer ends first."""

_OTHERWISE: Final = {"infinite": "{name} is inaccessible", "empty": "{name} is empty"}
"""Values that the text says in words of its own."""


def hanabi_row_differences(fields: Mapping[str, str]) -> Iterator[Difference]:
    """The columns of a Hanabi player's row against its column `State`."""
    state = fields.get("State", "")
    for name in _QUOTED:
        text = fields.get(name, "").strip()
        if text not in state and text != _NOTHING_DONE:
            yield Difference(name, repr(text), repr(None))
    if "Partner Cards" in fields and _CARD.findall(fields["Partner Cards"]) != _CARD.findall(state):
        yield Difference("Partner Cards", repr(_CARD.findall(fields["Partner Cards"])), repr(_CARD.findall(state)))
    board, table = _BOARD.search(fields.get("Board Information", "")), _TABLE.search(state)
    if "Board Information" in fields and table is not None:
        tokens, lives, deck, discards = table.groups()
        if board is None or board.groups() != (tokens, lives, discards, deck):
            yield Difference("Board Information", repr(board and board.groups()), repr((tokens, lives, discards, deck)))
    chosen, listed = fields.get("Selected Action", "").lower(), fields.get("Available Actions", "").lower()
    if listed and chosen not in listed:
        yield Difference("Selected Action", repr(chosen), repr(None))
    if "Message" in fields and state.strip() not in "\n".join(_contents(fields["Message"])):
        yield Difference("Message", repr(fields["Message"][:200]), repr(None))


def kitchen_row_differences(fields: Mapping[str, str], chosen: Sequence[str]) -> Iterator[Difference]:
    """The columns of an Overcooked player's row against its column `full_state_description`, and against what was chosen in all rows."""
    text = fields["full_state_description"]
    for name, value in fields.items():
        said = _as_said(name, value)
        if said is not None and said.lower() not in text.lower():
            yield Difference(name, repr(value), repr(None))
    partner_is_told = any(f"{player} is holding" in text for player in PLAYERS)
    if partner_is_told and f" is holding {fields['other_player_held_object']}." not in text:
        yield Difference("other_player_held_object", repr(fields["other_player_held_object"]), repr(None))
    if fields["selected_action"] not in fields["available_actions"]:
        yield Difference("selected_action", repr(fields["selected_action"]), repr(fields["available_actions"]))
    done = _literal(fields["action_history"])
    if not isinstance(done, list) or done != list(chosen[: len(done)]):
        yield Difference("action_history", fields["action_history"], repr(chosen))


def _as_said(name: str, value: str) -> str | None:
    """How the text says what stands in a column; None for columns of another kind."""
    if name == "player_held_object":
        return f"I am holding {value}."
    if "_distance_from_" in name:
        wording = _OTHERWISE.get(value, "{name} is {value} units away" if value.isdecimal() else "{name} is {value}")
        return wording.format(name=name.partition("_")[0], value=value)
    end = next((end for end in _COUNTS if name.endswith(end)), None)
    return None if end is None else _OTHERWISE.get(value, _COUNTS[end]).format(name=name.removesuffix(end), value=value)


def _contents(message: str) -> list[str]:
    """The texts of a list of messages as Python writes it."""
    found = _literal(message)
    return [str(entry.get("content")) for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _literal(text: str) -> object:
    try:
        return without_half_pairs(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
