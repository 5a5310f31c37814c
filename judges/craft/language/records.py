"""The record form of claims: what `cotrace claims` reads and writes, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judges.craft.language.model import Claim
from judges.craft.language.places.walls import WALLS
from judges.craft.language.reader import read
from schemas.errors import BadInputError

__all__ = ["checked_record", "claim_record", "claims_of"]


def claims_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Read one record ``{id, speaker, utterance, board_before}`` and give ``{id, claims}``.

    Raises:
        BadInputError: a field is missing or has the wrong form; the message names it and the mend.
    """
    name, speaker, text, board = checked_record(record)
    return {"id": name, "claims": [claim_record(claim) for claim in read(text, speaker, board).claims]}


def checked_record(record: Mapping[str, Any]) -> tuple[str, str, str, dict[str, Sequence[str]]]:
    """The id, speaker, text and board of one record.

    Raises:
        BadInputError: a field is missing or has the wrong form; the message names it and the mend.
    """
    name = _text(record, "id", "?")
    where = f"record {name!r}"
    speaker = _text(record, "speaker", where)
    if speaker not in WALLS:
        raise BadInputError(f"{where}: speaker {speaker!r} is no director; give one of {', '.join(WALLS)}", locator="speaker")
    return name, speaker, _text(record, "utterance", where), _board(record, where)


def claim_record(claim: Claim) -> dict[str, Any]:
    """Give the claim as the annotated claims are written: verb, color, size, cells, layer, first and, if named, old."""
    result: dict[str, Any] = {
        "verb": claim.verb,
        "color": claim.color,
        "size": claim.size,
        "cells": list(claim.cells) if claim.cells is not None else None,
        "layer": claim.layer,
        "first": claim.first,
    }
    if claim.old is not None:
        result["old"] = {"color": claim.old.color, "size": claim.old.size}
    return result


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        what = "is missing" if key not in record else f"is {type(value).__name__}, not text"
        raise BadInputError(f"{where}: {key} {what}; give {key} as a text", locator=key)
    return value


def _board(record: Mapping[str, Any], where: str) -> dict[str, Sequence[str]]:
    board = record.get("board_before")
    if not isinstance(board, Mapping):
        raise BadInputError(f"{where}: board_before must map cells such as '(0,1)' to lists of block codes", locator="board_before")
    for cell, stack in board.items():
        if not isinstance(stack, list) or not all(
            isinstance(code, str) and code[:1] and code[0] in "gbryo" and code[1:] in ("s", "l") for code in stack
        ):
            raise BadInputError(f"{where}: the stack of cell {cell} must be a list of codes such as 'bs', bottom first",
                                locator=f"board_before[{cell}]")  # fmt: skip
    return dict(board)
