"""Questions about states: keys are the engine's, files are deterministic, and what asks and scores CoordinationQA asks and scores them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from analytics.probe_skill import probe_skill
from analytics.query import query
from games.coordination import probes as coordination
from games.coordination.qa.ask import AskRequest, ask_questions
from games.coordination.qa.questions import QUESTION_FILE, QaQuestion, extract, load_questions, parse_questions
from games.craft import probes as craft
from games.craft.engine.board import DIRECTORS, EMPTY_BOARD, Board, wall_cells
from games.craft.setup import state_json
from games.craft.targets import generate_structures
from games.craft.value.search import best_progress
from games.probes import Scene, question_file, scenarios
from ingest.files.run import ingest_paths
from schemas.common.errors import UsageError
from schemas.store import batches
from tests.analytics.little_games import Game, Step, rows_of, store_with


def parsed(text: str) -> tuple[QaQuestion, ...]:
    return parse_questions(text.encode())


def right(question: QaQuestion) -> set[str]:
    return {question.options[place].text for place in question.correct_options}


def boards() -> list[Scene]:
    """Three empty boards and the same with one right block."""
    found = []
    for structure in generate_structures(3, 7):
        goal = state_json(structure.target)
        cell, block = next((cell, stack[0]) for cell, stack in goal["stacks"].items() if stack and stack[0].endswith("s"))
        begun = EMPTY_BOARD.with_stack(cell, (block,))
        found += [Scene("simple", goal, state_json(board), 1, 6) for board in (EMPTY_BOARD, begun)]
    return found


def test_keys_of_craft_are_the_engine_s() -> None:
    """Moves by the highest progress within reach, what a director can know by its wall, tops by the board."""
    scenes = boards()
    questions = parsed(question_file(scenarios("craft", scenes, 6, 3), 3))
    assert len(questions) >= 8
    for question in questions:
        letters = [option.letter for option in question.options]
        assert letters == [chr(ord("A") + place) for place in range(len(letters))]
        assert 0 < len(question.correct_options) < len(letters)
        if question.type == "TOM":
            director = next(name for name in DIRECTORS if name in question.text.partition("?")[0])
            assert {any(cell in option for cell in wall_cells(director)) for option in right(question)} == {True}
            wrong = {option.text for option in question.options} - right(question)
            assert {any(cell in option for cell in wall_cells(director)) for option in wrong} == {False}
        if question.type == "EC":
            cell = question.text.partition("?")[0][-5:]
            stack = json.loads(question.description.partition("to top: ")[2].partition("\n")[0])[cell]
            assert right(question) == {stack[-1] if stack else "no block"}


def test_the_best_move_of_craft_leaves_most_within_reach() -> None:
    """Against the value of the board that each option gives."""
    (scene, *_) = boards()
    target = Board.from_json(scene.goal["stacks"], scene.goal["spans"])
    found = craft.scenario(scene, random.Random(1))
    assert found is not None

    def worth(option: str) -> float:
        _, block, _, cell, _, _, *partner = option.split()
        after = EMPTY_BOARD.with_stack(cell, (block,))
        if partner:
            after = after.with_stack(partner[1], (block,)).with_layer_spans(0, ((cell, partner[1]),))
        return best_progress(after, target, 5)

    best = {round(worth(option), 9) for option in found.probes["JP"].right}
    assert len(best) == 1
    assert max(worth(option) for option in found.probes["JP"].wrong) < min(best)


def test_experiments_a_to_c_ask_for_the_next_of_five_actions() -> None:
    """Their recipes differ as the paper says, their keys do not."""
    text = question_file(scenarios("overcooked", (), 0, 1), 1)
    questions = parsed(text)
    assert len(questions) == 75 * 4
    due = {question.scenario: right(question) for question in questions if question.type == "NR"}
    assert due == {place: due[place % 25] for place in due}
    assert {next(iter(due[k * 5])).split()[0] for k in range(5)} == {"Pick", "Put", "Cut", "Place"}
    rotated = [question for question in questions if question.type == "NR" and question.game_upstream == "Overcooked C3"]
    assert all("1. Cut" in question.description for question in rotated)
    assert text == question_file(scenarios("overcooked", (), 0, 1), 1) != question_file(scenarios("overcooked", (), 0, 2), 2)


def test_capture_and_hanabi_by_hand() -> None:
    """Next to the thief a player catches it; a card is known by the hints alone."""
    state = {"rooms": {"Alice": 1, "Bob": 5, "Thief": 6}, "doors": {"1-2": True, "3-4": True}}
    found = coordination.scenario(Scene("collab_capture", {}, state, 2, 29), random.Random(0))
    assert found is not None
    assert not set(found.probes["JP"].right) & set(found.probes["JP"].wrong)
    assert coordination.scenario(Scene("overcooked", {}, {}, 1, None), random.Random(0)) is None


def test_answers_are_asked_scored_and_held_against_play(tmp_path: Path) -> None:
    """Five respondents of known skill, and games that the more skilled of them win: the correlation is 1."""
    questions = tmp_path / QUESTION_FILE
    questions.write_text(question_file(scenarios("craft", boards(), 6, 3), 3), encoding="utf-8")
    asked = load_questions(questions)
    report = ask_questions(AskRequest(questions=questions, out=tmp_path / "a", respondent="script:first", trials=1))
    assert (report.asked, report.unread) == (len(asked), 0)
    assert report.right == sum(correct(question, "A") for question in asked)
    skills = ("m0", "m1", "m2", "m3", "m4")
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / QUESTION_FILE).write_bytes(questions.read_bytes())
    for place, name in enumerate(skills):
        (folder / f"{name}.jsonl").write_text("".join(lines(name, asked, place)), encoding="utf-8")
    store = store_with(tmp_path, [])
    games = [Game([Step("{}")], f"g{name}", benchmark="craft", model=name, score=place / 10) for place, name in enumerate(skills)]
    with store.writing() as connection:
        for game in games:
            batches.insert(connection, batches.to_arrow(rows_of(game)))
    ingest_paths([folder], store, workers=1)
    rows = probe_skill(store).filter(type="EC").to_dicts()
    assert [(row["game"], row["benchmark"], row["models"]) for row in rows] == [("CRAFT", "craft", 5)]
    assert rows[0]["spearman"] == pytest.approx(1)
    assert rows[0]["low"] > 0
    assert query(store, "SELECT DISTINCT type FROM coordqa_accuracy ORDER BY type")["type"].to_list() == ["EC", "JP", "NR", "TOM"]


def correct(question: QaQuestion, letter: str) -> bool:
    return extract(question, f"Answer: {letter}.").letter in question.keyed_letters


def lines(name: str, asked: Sequence[QaQuestion], skill: int) -> list[str]:
    """The first so many scenarios are answered rightly."""
    written = []
    for question in asked:
        is_right = question.scenario < skill
        letter = next(one.letter for place, one in enumerate(question.options) if (place in question.correct_options) == is_right)
        line = {"respondent": name, "trial": 0, "scenario": question.scenario, "game": question.game_upstream, "type": question.type}
        written.append(json.dumps({**line, "response": f"Answer: {letter}", "api_error": False}) + "\n")
    return written


def test_a_family_without_questions_is_named() -> None:
    with pytest.raises(UsageError, match="no questions are known about states of einstein"):
        scenarios("einstein", (), 1, 1)
    with pytest.raises(UsageError, match="no state gives questions"):
        question_file([], 1)
