"""The reader on messages of eight invented authors, four of them never read while it was developed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judges.craft.language import claims_of
from research.engine import score_first

HERE = Path(__file__).parent


def pairs(kind: str) -> list[tuple[list[Any], list[Any]]]:
    """Claims that were read and claims that were annotated, for every message."""
    records = map(json.loads, (HERE / f"craft_messages_{kind}.txt").read_text("utf-8").splitlines())
    return [(claims_of(record)["claims"], record["claims"]) for record in records]


@pytest.mark.parametrize(("kind", "least_right", "least_found"), [("dev", 0.97, 0.88), ("held", 0.90, 0.65)])
def test_fields_of_invented_authors_are_right_or_open(kind: str, least_right: float, least_found: float) -> None:
    """What is given of the first instruction is right; the bars are the measured figures, rounded down."""
    for name, score in score_first(pairs(kind)).items():
        assert score.precision is not None, name
        assert score.recall is not None, name
        assert (score.precision >= least_right, score.recall >= least_found) == (True, True), (name, score)


@pytest.mark.parametrize("kind", ["dev", "held"])
def test_messages_without_a_request_give_none(kind: str) -> None:
    """Chat, questions, reports and denials: at most one in twenty is taken for a request."""
    silent = [read for read, annotated in pairs(kind) if not any(claim["first"] for claim in annotated)]
    assert len(silent) > 40
    assert sum(any(claim["first"] for claim in read) for read in silent) <= len(silent) / 20
