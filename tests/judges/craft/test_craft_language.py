"""The reader of director language: hand-worked wordings, real messages, and what may never happen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.craft.language import Claim, claims_of, read
from research.engine import score_all, score_first
from schemas.common.errors import BadInputError
from tests.judges.craft.craft_wordings import BOARD, WORDINGS

WALLS = {"D1": ("(0,0)", "(1,0)", "(2,0)"), "D2": ("(0,0)", "(0,1)", "(0,2)"), "D3": ("(0,2)", "(1,2)", "(2,2)")}
COLORS = {"green": "g", "blue": "b", "red": "r", "yellow": "y", "orange": "o"}


def in_notation(claims: Sequence[Claim]) -> str:
    """Instructions as the table of wordings writes them."""
    written = []
    for number, claim in enumerate(claim for claim in claims if claim.is_instruction):
        cells = "+".join(cell[1] + cell[3] for cell in claim.cells) if claim.cells else "-"
        layer = "-" if claim.layer is None else claim.layer
        star = "*" if claim.first and number else ""
        written.append(f"{star}{claim.verb} {claim.color or '-'} {claim.size or '-'} {cells} {layer}")
    return "; ".join(written)


@pytest.mark.parametrize(("speaker", "text", "expected"), WORDINGS, ids=[text[:48] for _, text, _ in WORDINGS])
def test_wording_is_read_as_worked_by_hand(speaker: str, text: str, expected: str) -> None:
    """Every wording gives exactly the instructions that a careful reader wrote down."""
    assert in_notation(read(text, speaker, BOARD).claims) == expected


@settings(deadline=None)
@given(
    speaker=st.sampled_from(sorted(WALLS)),
    verb=st.sampled_from(["put", "place", "add", "set", "drop", "install", "lay", "position"]),
    size=st.sampled_from([("small", "s"), ("little", "s"), ("single-cell", "s")]),
    color=st.sampled_from(sorted(COLORS)),
    side=st.sampled_from([("left", 0), ("leftmost", 0), ("middle", 1), ("center", 1), ("right", 2), ("far right", 2)]),
    layer=st.sampled_from([("bottom layer", 0), ("base", 0), ("middle row", 1), ("second tier", 1), ("top layer", 2), ("third level", 2)]),
    frame=st.sampled_from(["Please {}.", "Could you {}?", "Okay, let's {} now.", "First, {}.", "I need you to {}, thanks!"]),
)
def test_every_field_survives_any_choice_of_words(
    *, speaker: str, verb: str, size: tuple[str, str], color: str, side: tuple[str, int], layer: tuple[str, int], frame: str
) -> None:
    """Synonyms of action, size, side and layer in polite frames all lead to the same full claim."""
    text = frame.format(f"{verb} a {size[0]} {color} block in the {side[0]} cell of my {layer[0]}")
    first = read(text, speaker, BOARD).first
    assert first is not None
    assert (first.verb, first.color, first.size, first.cells, first.layer, set(first.origins.values())) == (
        "place", COLORS[color], size[1], (WALLS[speaker][side[1]],), layer[1], {"stated"},
    )  # fmt: skip


@settings(deadline=None)
@given(text=st.text(max_size=300), speaker=st.sampled_from(sorted(WALLS)))
def test_any_text_gives_a_consistent_reading(text: str, speaker: str) -> None:
    """No text raises; spans lie in the text, and exactly one claim is first if there is any instruction."""
    reading = read(text, speaker, BOARD)
    instructions = [claim for claim in reading.claims if claim.is_instruction]
    assert sum(claim.first for claim in reading.claims) == bool(instructions)
    assert all(0 <= claim.start <= claim.end <= len(text) for claim in reading.claims)


KNOWN_WORDS = [
    *("put", "remove", "swap", "the", "a", "small", "large", "red", "blue", "block", "it", "there", "left", "right", "middle", "top"),
    *("bottom", "layer", "on", "of", "next", "to", "and", ",", ".", "?", "(0,2)", "not", "first", "with", "I", "need", "see", "should"),
    *("be", "is", "empty", "then", "my", "D2", "from", "where", "instead", "one", "2", "move", "keep", "over", "between", "rest", "if"),
]


@settings(deadline=None)
@given(words=st.lists(st.sampled_from(KNOWN_WORDS), max_size=40))
def test_any_mixture_of_known_words_gives_a_consistent_reading(words: list[str]) -> None:
    """Known words in any order never raise and keep the closed sets."""
    for claim in read(" ".join(words), "D2", BOARD).claims:
        assert claim.color in {None, *"gbryo"}
        assert claim.size in {None, "s", "l"}
        assert claim.layer in {None, 0, 1, 2}
        assert claim.cells is None or (claim.cells and set(claim.cells) <= set(BOARD))
        assert set(claim.origins) == {name for name in ("color", "size", "cells", "layer") if getattr(claim, name) is not None}


def test_span_points_at_the_words_of_the_claim() -> None:
    """The text between start and end holds action, block and place."""
    text = "Hello all. Please put a small blue block in my top right corner, thanks."
    claim = read(text, "D1", BOARD).claims[0]
    assert text[claim.start : claim.end] == "put a small blue block in my top right"


def test_origins_tell_stated_from_resolved_and_carried() -> None:
    """A described block is resolved on the board, "there" is carried from the sentence before."""
    resolved = read("Remove the small green block.", "D1", BOARD).claims[0]
    assert (resolved.cells, resolved.origins["cells"], resolved.origins["color"]) == (("(2,0)",), "resolved", "stated")
    carried = read("My bottom right corner is empty. Put a small red block there.", "D3", BOARD).first
    assert carried is not None
    assert (carried.cells, carried.layer, carried.origins["cells"]) == (("(2,2)",), 0, "carried")


def test_old_block_is_kept_beside_the_new_one() -> None:
    """A replacement names what is there now."""
    claim = read("Swap the small orange block on the right of my middle layer for a large green one.", "D2", BOARD).claims[0]
    assert claim.old is not None
    assert (claim.old.color, claim.old.size, claim.color, claim.size) == ("o", "s", "g", "l")


def test_speaker_must_be_a_director() -> None:
    """An unknown speaker is refused with the mend."""
    with pytest.raises(ValueError, match="must be one of D1, D2, D3"):
        read("Put it there.", "Builder", BOARD)


GOOD: dict[str, Any] = {"id": "x", "speaker": "D1", "utterance": "Put a small red block in my bottom left corner.", "board_before": BOARD}


def test_record_in_record_out() -> None:
    """The record form is the annotated claims' form."""
    assert claims_of(GOOD) == {
        "id": "x",
        "claims": [{"verb": "place", "color": "r", "size": "s", "cells": ["(0,0)"], "layer": 0, "first": True}],
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "id is NoneType, not text"),
        ({"speaker": "D4"}, "speaker 'D4' is not a director"),
        ({"utterance": 3}, "record 'x': utterance is int, not text"),
        ({"board_before": []}, "board_before must map cells"),
        ({"board_before": {"(0,0)": "bs"}}, r"the stack of cell \(0,0\) must be a list"),
    ],
)
def test_bad_record_says_what_where_and_the_mend(change: Mapping[str, object], message: str) -> None:
    """Every bad field is named."""
    with pytest.raises(BadInputError, match=message):
        claims_of({**GOOD, **change})


def test_missing_field_is_named() -> None:
    """A record without an utterance says so."""
    with pytest.raises(BadInputError, match="utterance is missing"):
        claims_of({key: value for key, value in GOOD.items() if key != "utterance"})


def claim(**fields: object) -> dict[str, object]:
    """An annotated claim with the given fields."""
    return {"verb": "place", "color": None, "size": None, "cells": None, "layer": None, "first": True} | fields


def test_score_counts_given_annotated_and_right_fields() -> None:
    """Hand-worked: one right colour, one wrong, one left open; cells compare as sets."""
    pairs = [
        ([claim(color="r", cells=["(0,1)", "(0,0)"])], [claim(color="r", cells=["(0,0)", "(0,1)"])]),
        ([claim(color="g")], [claim(color="b", layer=0)]),
        ([claim()], [claim(color="y")]),
    ]
    scores = score_first(pairs)
    assert (scores["color"].right, scores["color"].given, scores["color"].annotated) == (1, 2, 3)
    assert (scores["color"].precision, scores["color"].recall) == (1 / 2, 1 / 3)
    assert (scores["cells"].precision, scores["layer"].precision, scores["layer"].recall) == (1.0, None, 0.0)
    whole = score_all(pairs)
    assert (whole.right, whole.given, whole.annotated, whole.f1) == (1, 3, 3, 1 / 3)


def annotated_pairs(shared: Path) -> list[tuple[list[Any], list[Any]]]:
    """Predicted and annotated claims of the real messages that are not ambiguous."""
    folder = shared / "data" / "craft" / "real_utterances"
    texts = {record["id"]: record for record in map(json.loads, (folder / "utterances.jsonl").read_text("utf-8").splitlines())}
    annotated = map(json.loads, (folder / "claims.jsonl").read_text("utf-8").splitlines())
    return [(claims_of(texts[entry["id"]])["claims"], entry["claims"]) for entry in annotated if not entry["ambiguous"]]


def test_real_messages_are_read_with_high_precision(shared: Path) -> None:
    """On real messages every field of the first instruction is right in nine of ten cases where it is given, and found in three of four."""
    for name, score in score_first(annotated_pairs(shared)).items():
        assert score.precision is not None, name
        assert score.recall is not None, name
        assert (score.precision >= 0.9, score.recall >= 0.75) == (True, True), (name, score)


def test_clear_scripted_requests_are_read_completely(shared: Path) -> None:
    """Every message labelled as executable as it stands (MM6 yes) names action, colour, size, cells and layer."""
    folder = shared / "data" / "craft" / "engine_games" / "clear_scripted-builder"
    labels = (folder / "labels.csv").read_text("utf-8").splitlines()
    rows = [dict(zip(labels[0].split(","), line.split(","), strict=False)) for line in labels[1:]]
    executable = {(row["structure_id"], row["turn"], row["director"]) for row in rows if (row["question"], row["truth"]) == ("MM6", "Yes")}
    game = json.loads((folder / "craft_structure_001_3.json").read_text("utf-8"))["games"][0]
    seen = 0
    for turn in game["turns"]:
        for speaker, response in turn["director_responses"].items():
            if (game["structure_id"], str(turn["turn_number"]), speaker) in executable:
                first = read(response["public_message"], speaker, turn["structure_before"]).first
                assert first is not None, response["public_message"]
                assert None not in (first.color, first.size, first.cells, first.layer), response["public_message"]
                seen += 1
    assert seen > 20
