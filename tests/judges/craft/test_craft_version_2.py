"""Questions of version 2: what the evidence says of the turn, and what the engine answers as the questions are worded now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from analytics.query import query
from games.craft.engine.rules import Move
from ingest.files.run import ingest_paths
from judges.evidence.pieces import Viewer
from judges.evidence.transcript import Transcript, UtteranceView, load
from judges.evidence.units import units
from judges.rubric_files.load import find
from schemas.store.store import Store
from tests.ingest.craft.craft_logs import published
from tests.judges.craft.test_craft_checks import BLUE_DOMINO, CLEAR, RIGHT_CORNER, VAGUE, YELLOW_CORNER, Played, decide, game, turn

ORANGE = ("D1", "Put a small orange block on my left, middle layer.")
BLUE = ("D2", "Put a small blue block on my left, middle layer.")
MIDDLE = ("D1", "Put a small red block in the middle of my bottom layer.")


def shown(played: Transcript, piece: str, agent: str = "D1") -> str:
    """A piece of evidence about the last turn, as a judge reads it."""
    rubric = find("mind_modeling")
    unit = next(one for one in units(rubric, played, None) if one.unit_id.endswith(f"/{len(played.turns)}/{agent}"))
    return "\n".join(f"{entry.head}\n{entry.text}" for entry in Viewer(unit.context).show([piece])[piece])


def setting(played: Transcript, *, hears: bool | None) -> Transcript:
    return replace(played, details={} if hears is None else {"same_turn_messages": hears})


def test_judges_are_told_how_the_directors_of_this_game_spoke() -> None:
    """Whether they hear one another is the game's, and where no log says it, that is said."""
    played = game(turn(messages=[BLUE, ORANGE]))
    texts = {hears: shown(setting(played, hears=hears), "turn_setting") for hears in (True, False, None)}
    assert "hears those who spoke before it" in texts[True]
    assert "do not hear one another" in texts[False]
    assert "does not say" in texts[None]
    assert all("in this order: D2, D1." in text for text in texts.values())


def test_judges_are_told_which_messages_the_builder_received() -> None:
    """Of a director who spoke twice: all of them, or the last."""
    played = game(turn(messages=[ORANGE, MIDDLE]))
    assert "D1 spoke 2 times; the builder received all its messages" in shown(played, "turn_setting")
    first: Sequence[UtteranceView] = played.turns[0].utterances
    dropped = replace(played.turns[0], utterances=(replace(first[0], superseded=True), *first[1:]))
    assert "D1 spoke 2 times; the builder received only the last message" in shown(replace(played, turns=(dropped,)), "turn_setting")


def test_the_ends_of_each_wall_have_their_cells() -> None:
    """So that "my left" can be looked up."""
    played = game(turn(messages=[ORANGE]))
    assert "D3: left end (0,2), middle (1,2), right end (2,2)" in shown(played, "walls")
    assert "left end (0,0), middle (1,0), right end (2,0)" in shown(played, "wall_cells")


def test_a_placement_always_has_its_second_cell_or_says_that_it_has_none() -> None:
    """In candidates and in the history."""
    played = game(
        turn(messages=[CLEAR], move=YELLOW_CORNER), turn(messages=[CLEAR], board=RIGHT_CORNER, listed=(BLUE_DOMINO, YELLOW_CORNER))
    )
    assert "layer=0, span_to=none" in shown(played, "oracle_actions")
    assert "span_to=(2,0)" in shown(played, "oracle_actions")
    assert "layer=0, span_to=none: carried out" in shown(played, "history")


@pytest.mark.parametrize(
    ("hears", "speakers", "answer"),
    [
        (True, [BLUE, ORANGE], "no"),
        (True, [ORANGE, BLUE], "na"),
        (False, [BLUE, ORANGE], None),
        (False, [ORANGE, ("D3", "Put a small orange block on my right, bottom layer.")], "na"),
        (None, [BLUE, ORANGE], None),
    ],
    ids=["heard before", "said later", "could not hear it", "nothing to hear", "not known"],
)
def test_only_what_a_director_could_hear_can_be_settled(*, hears: bool | None, speakers: list[tuple[str, str]], answer: str | None) -> None:
    """MM7: no fault of whoever could not know."""
    played = setting(game(turn(board=RIGHT_CORNER, messages=speakers)), hears=hears)
    assert decide("MM7_heard", played, "D1").answer == answer


def answered(played: Played, words: str) -> Transcript:
    """The game with what the builder says."""
    told = game(played)
    said = UtteranceView(9, "Builder", "public", ("D1", "D2", "D3", "Builder"), words, superseded=False)
    return replace(told, turns=(replace(told.turns[0], utterances=(*told.turns[0].utterances, said)),))


@pytest.mark.parametrize(
    ("move", "words", "answer"),
    [
        (changed(YELLOW_CORNER, position="(2,0)"), "Small yellow on the left of D1's bottom layer, as D1 asks.", None),
        (changed(YELLOW_CORNER, position="(2,0)"), "Something at the right end.", "no"),
        (changed(YELLOW_CORNER, block="rs"), "Placing a red block, as D1 asks.", "no"),
        (changed(YELLOW_CORNER, block="yl", span_to="(1,0)"), "Placing a large yellow block, as D1 asks.", "no"),
        (changed(YELLOW_CORNER, block="yl", span_to="(1,0)"), "Placing the small yellow block, as D1 asks.", None),
        (YELLOW_CORNER, "As D1 asks.", "yes"),
    ],
)
def test_what_the_builder_understood_is_in_its_words(move: Move, words: str, answer: str | None) -> None:
    """PS5: a move elsewhere shows nothing where the words may repeat what was asked for."""
    assert decide("PS5", answered(turn(messages=[CLEAR], move=move), words)).answer == answer


def test_a_size_that_nobody_gave_is_the_builders_guess() -> None:
    """PS5: a large block for one whose size was left open shows nothing."""
    asked = ("D1", "Put a yellow block on the left of my bottom layer.")
    assert decide("PS5", game(turn(messages=[asked], move=Move("place", "yl", "(0,0)", 0, "(1,0)")))).answer is None


def test_places_need_no_layer_and_a_miss_can_be_a_question() -> None:
    """PS4 and PS6."""
    assert decide("PS4", game(turn(messages=[("D1", "Put a small yellow block on my left.")]))).answer == "yes"
    assert decide("PS6", game(turn(messages=[VAGUE], question="Which one?"))).answer == "yes"
    assert decide("PS6", game(turn(messages=[CLEAR], question="Which one?"))).answer == "no"
    assert decide("PS6", game(turn(messages=[CLEAR], move=YELLOW_CORNER))).answer == "na"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("heard", [True, None, False])
def test_prompts_of_a_published_log_tell_whether_its_directors_heard_one_another(tmp_path: Path, *, heard: bool | None) -> None:
    """Where it has whole prompts; else nothing is stored."""
    log = published()
    for record in log["games"][0]["turns"]:
        said = record["director_responses"]
        for name in said:
            others = "\n".join(f"{other}: {one['public_message']}" for other, one in said.items() if other != name)
            record[f"director_prompt_{name}"] = (
                "cut [shortened]" if heard is None else f"### CONVERSATION SO FAR\n{others if heard else ''}"
            )
    (tmp_path / "craft_structure_001_3.json").write_text(json.dumps(log))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "craft_structure_001_3.json"], store, workers=1)
    (played,) = load(store, query(store, "SELECT episode_id FROM episodes")["episode_id"].to_list())
    assert played.details.get("same_turn_messages") is heard
