"""Loads the tables of wordings: `craft_wordings_messages.txt` and `craft_wordings_reasonings.txt`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FIELDS = ("verb", "color", "size", "cells", "layer")
_OPEN = "?"
_MORE = "..."


class Wording(NamedTuple):
    """One text with what a careful reader takes from it."""

    speaker: str
    text: str
    instructions: tuple[dict[str, str], ...]
    """In text order; fields that are left open are absent, null is ``-``."""

    complete: bool
    """Whether these are all instructions of the text."""

    first: int
    """Index of the instruction to be carried out first."""


def wordings(name: str) -> list[Wording]:
    """Read one table; lines without any settled instruction (a lone ``...``) are left out."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    rows = [_wording(line) for line in lines if line and not line.startswith("#")]
    return [row for row in rows if row.instructions or row.complete]


def _wording(line: str) -> Wording:
    speaker, rest = line.split(" | ", 1)
    text, _, worked = rest.rpartition("|")
    claims = [claim.strip() for claim in worked.split(";") if claim.strip()]
    settled = [claim for claim in claims if claim != _MORE]
    fields = tuple(
        {name: value for name, value in zip(FIELDS, claim.removeprefix("*").split(), strict=True) if value != _OPEN} for claim in settled
    )
    first = next((number for number, claim in enumerate(settled) if claim.startswith("*")), 0)
    return Wording(speaker, text.strip().replace("\\n", "\n"), fields, _MORE not in claims, first)
