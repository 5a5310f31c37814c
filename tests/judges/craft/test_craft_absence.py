"""The rule of absence: an answer that rests on something not being said needs every clause to have been understood.

Played games are judged once as they are read, and again with a claim hidden: taken out, its clause told as not understood. Whatever a check
had concluded from other claims may stay; what it had concluded from the hidden one, or now would from its absence, must become undecided.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judges.craft.checks as checks_package
from games.craft.claims import TYPES
from games.craft.engine.board import DIRECTORS
from ingest.files.run import ingest_paths
from judges.claims.readers import family_reading, reading_of
from judges.claims.reading import Read, TextClaims, Unread
from judges.craft.checks import CHECKS, prepared
from judges.evidence.transcript import Transcript, UtteranceView, load
from schemas.store.store import Store
from tests.judges.craft.test_craft_checks import decide, game, turn
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

Answers = dict[tuple[int, str | None, str], str | None]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Transcript]:
    """Games of directors who leave things out, contradict each other, and ask for what must not be removed."""
    folder = tmp_path_factory.mktemp("absence")
    personas = ("vague", "redundant+conflicting+mixed")
    play(PlayRequest(out=folder / "logs", personas=personas, builders=("sloppy",), structures=1, seed=3, turns=3, processes=1))
    store = Store(folder / "store.duckdb")
    ingest_paths([folder / "logs"], store)
    with store.reading() as connection:
        found = [episode for (episode,) in connection.execute("SELECT episode_id FROM episodes ORDER BY 1").fetchall()]
    return list(load(store, found))


def answers(transcript: Transcript) -> Answers:
    """All answers of all checks about a game, prepared anew."""
    fresh = replace(transcript)  # what checks prepare is kept for the same object
    asked = [(t.turn, agent) for t in transcript.turns for agent in (*DIRECTORS, None)]
    return {(t, agent, name): check(fresh, t, agent).answer for t, agent in asked for name, check in CHECKS.items()}


def hiding(text: str, number: int) -> Callable[[Transcript, int, UtteranceView], TextClaims[Any]]:
    """A reader that does not understand the clause of one claim of one text."""

    def read(transcript: Transcript, on: int, said: UtteranceView) -> TextClaims[Any]:
        found = family_reading("craft").read(transcript, on, said)
        if said.text != text:
            return TextClaims(found)
        start, end = found.claims[number].start or 0, found.claims[number].end or 0
        kept = tuple(one for one in found.claims if (one.end or 0) <= start or end <= (one.start or 0))
        return TextClaims(Read(kept, (*found.unread, Unread(text[start:end], "hidden", TYPES))))

    return read


def hidden_claims(transcript: Transcript) -> Iterator[tuple[str, int]]:
    """Every claim of every text of a game."""
    for t in transcript.turns:
        for said in t.utterances:
            if said.agent in DIRECTORS:
                yield from ((said.text, number) for number in range(len(family_reading("craft").read(transcript, t.turn, said).claims)))


def test_hiding_a_claim_turns_no_answer_round(games: list[Transcript], monkeypatch: pytest.MonkeyPatch) -> None:
    """No check gives another answer because a clause was not understood, and many give none any more."""
    lost = 0
    for transcript in games:
        before = answers(transcript)
        for text, number in list(dict.fromkeys(hidden_claims(transcript)))[::3]:
            monkeypatch.setattr(prepared, "reading_of", hiding(text, number))
            after = answers(transcript)
            monkeypatch.setattr(prepared, "reading_of", reading_of)
            turned = [key for key, answer in before.items() if answer is not None and after[key] not in (answer, None)]
            assert not turned, (text, number, turned)
            lost += sum(answer is not None and after[key] is None for key, answer in before.items())
    assert lost > 50


def test_checks_never_see_a_text() -> None:
    """Outside `evidence`, where texts are handed to the reader, no check module touches one or reads anything itself."""
    folder = Path(checks_package.__file__).parent
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for name in node.names}
        assert "re" not in imported, path.name
        assert path.name == "prepared.py" or "text" not in used, path.name


SPREAD = "I need a large blue block on my bottom layer, with one end in my leftmost slot and the other in my central slot."


@pytest.mark.parametrize(
    "aside", ["Good: orange on (0,0), layer 0.", "(0,0) at layer 0 is orange already, fine.", "(2,0) layer 0 is green, lovely."]
)
def test_a_remark_about_what_stands_is_no_plan(aside: str) -> None:
    """A block that is praised is neither asked for nor what the reasoning arrives at."""
    thought = f"{aside} (1,0) needs a small red block on layer 0."
    board = {"(0,0)": ["os"], "(2,0)": ["gs"]}
    played = game(
        turn(board=board, thoughts={"D1": thought}, messages=[("D1", "Place a small red block in the middle cell of my bottom layer.")])
    )

    assert decide("SG5", played, "D1").answer in ("yes", None)
    assert decide("MM4", played, "D1").answer in ("yes", None)


def test_a_cell_that_was_not_read_is_not_called_missing() -> None:
    """Both cells are given, in words that may not be understood: then nothing is said of them."""
    played = game(turn(messages=[("D1", SPREAD)]))

    assert decide("MM6", played, "D1").answer in ("yes", None)


@pytest.mark.parametrize("question", ["MM6", "PS1", "PS4", "MM8"])
def test_an_unknown_word_may_be_what_seems_to_be_missing(question: str) -> None:
    """A request without a place gets its no; with a word that nobody knows it does not."""
    plain = game(turn(messages=[("D1", "Place a small red block.")]))
    odd = game(turn(messages=[("D1", "Place a small red block on the glimp.")]))
    agent = "D1" if question.startswith("MM") else None

    assert [decide(question, played, agent).answer for played in (plain, odd)] == ["no", None]
