"""The reader on wordings in the styles of many models: precision and recall of every field, instruction counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judges.craft.language import Claim, read
from tests.judges.craft.craft_wordings import BOARD
from tests.judges.craft.craft_wordings_files import FIELDS, Wording, wordings

MESSAGES, REASONINGS = "craft_wordings_messages.txt", "craft_wordings_reasonings.txt"


def as_written(claim: Claim | None) -> dict[str, str]:
    """One claim in the notation of the tables."""
    if claim is None:
        return dict.fromkeys(FIELDS, "-")
    cells = "+".join(sorted(cell[1] + cell[3] for cell in claim.cells)) if claim.cells else "-"
    layer = "-" if claim.layer is None else str(claim.layer)
    return {"verb": claim.verb, "color": claim.color or "-", "size": claim.size or "-", "cells": cells, "layer": layer}


def compared(table: str, field: str) -> Iterator[tuple[str, str]]:
    """Read and expected value of one field of the first instruction, for every text where it is settled."""
    for wording in wordings(table):
        expected = wording.instructions[wording.first] if wording.instructions else as_written(None)
        if field in expected:
            yield as_written(read(wording.text, wording.speaker, BOARD).first)[field], expected[field]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("table", "least_right", "least_found"), [(MESSAGES, 0.97, 0.85), (REASONINGS, 0.92, 0.75)])
def test_fields_of_the_first_instruction_are_right_or_open(table: str, field: str, least_right: float, least_found: float) -> None:
    """What the reader gives is nearly always right, and it finds most of what is said."""
    pairs = list(compared(table, field))
    given = [pair for pair in pairs if pair[0] != "-"]
    said = [pair for pair in pairs if pair[1] != "-"]
    right = sum(one == other for one, other in given)
    assert right / len(given) >= least_right, [pair for pair in given if pair[0] != pair[1]]
    assert right / len(said) >= least_found


def is_exact(wording: Wording) -> bool:
    """Whether all instructions were read, in order, with every settled field."""
    found = [as_written(claim) for claim in read(wording.text, wording.speaker, BOARD).claims if claim.is_instruction]
    return len(found) == len(wording.instructions) and all(
        expected.items() <= got.items() for got, expected in zip(found, wording.instructions, strict=True)
    )


def test_most_messages_are_read_without_any_difference() -> None:
    """Five of six messages give exactly the worked instructions; texts that ask for nothing give none."""
    complete = [wording for wording in wordings(MESSAGES) if wording.complete]
    assert sum(map(is_exact, complete)) / len(complete) >= 5 / 6
    nothing = [wording for wording in complete if not wording.instructions]
    assert sum(map(is_exact, nothing)) / len(nothing) >= 0.9
