"""The AsymPuzl engine: generation, walls, answers, feedback, turn order and limits (format description, sections 1 to 7)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from games.asympuzl.answer import apply, parse_answer, tokenizer
from games.asympuzl.game import FEEDBACK_MODES, FeedbackMode, Game, GameSettings, PuzzleView, attempt, feedback_lines, observe
from games.asympuzl.players import PersonaPlayer
from games.asympuzl.puzzle import AGENTS, COLORS, SHAPES, Agent, Entry, Puzzle, generate, wrong_positions
from games.asympuzl.record import RunFacts, game_line, turn_line
from schemas.common.errors import UsageError


def written(text: str) -> tuple[Entry, ...]:
    """Entries out of the format description's notation: `crescent brown, cross maroon`."""
    return tuple(Entry(*pair.split()) for pair in text.split(", "))


THREE = Puzzle(
    truth=written("crescent brown, cross maroon, triangle navy"),
    clues_a=(Entry("crescent", None), Entry("cross", None), Entry("triangle", None)),
    clues_b=written("crescent brown, triangle navy, cross maroon"),
)
"""The puzzle of size 3 and seed 0."""


def replace(place: Any, shape: Any, color: Any) -> dict[str, Any]:
    return {"replace": place, "by": {"shape": shape, "color": color}}


def answer(message: str = "", *actions: dict[str, Any]) -> str:
    return json.dumps({"message": message, "actions": list(actions)})


SOLVE_A = answer("a", *(replace(place, *entry) for place, entry in enumerate(THREE.truth, start=1)))
SOLVE_B = answer("b", replace(2, "cross", "maroon"), replace(3, "triangle", "navy"))


# --- generation --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "seed", "truth", "clues"),
    [
        (3, 0, "crescent brown, cross maroon, triangle navy", "crescent brown, triangle navy, cross maroon"),
        (3, 1, "pentagon brown, sphere green, rectangle navy", "pentagon brown, rectangle navy, sphere green"),
        (
            5,
            0,
            "crescent navy, cross magenta, triangle black, star gray, cone gold",
            "triangle black, crescent navy, star gray, cone gold, cross magenta",
        ),
        (
            5,
            7,
            "diamond cyan, pentagon olive, crescent green, trapezoid gray, triangle gold",
            "trapezoid gray, crescent green, triangle gold, pentagon olive, diamond cyan",
        ),
    ],
)
def test_generation_gives_the_test_vectors(size: int, seed: int, truth: str, clues: str) -> None:
    """The format description fixes four puzzles (section 2)."""
    puzzle = generate(size=size, seed=seed)
    assert puzzle.truth == written(truth)
    assert puzzle.clues_b == written(clues)
    assert puzzle.clues_a == tuple(Entry(entry.shape, None) for entry in written(truth))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 24])
def test_shapes_and_colors_differ_and_b_is_never_given_the_order(size: int) -> None:
    """Except with one position, where there is only one order."""
    for seed in range(30):
        puzzle = generate(size=size, seed=seed)
        assert len({entry.shape for entry in puzzle.truth}) == len({entry.color for entry in puzzle.truth}) == size
        assert sorted(puzzle.clues_b) == sorted(puzzle.truth)
        assert size == 1 or puzzle.clues_b != puzzle.truth


def test_the_identity_can_be_allowed() -> None:
    """With two positions every other puzzle then has it."""
    same = [generate(size=2, seed=seed, allow_identity=True) for seed in range(30)]
    assert any(puzzle.clues_b == puzzle.truth for puzzle in same)
    assert any(puzzle.clues_b != puzzle.truth for puzzle in same)


@pytest.mark.parametrize("size", [0, 25, -1])
def test_other_sizes_are_refused(size: int) -> None:
    """There are 24 shapes and 24 colors."""
    with pytest.raises(UsageError, match=rf"size {size} is out of range; give 1 to 24"):
        generate(size=size, seed=0)


def test_the_vocabularies_have_24_words_each_and_none_in_common() -> None:
    """No word is in both lists."""
    assert len(set(SHAPES)) == len(set(COLORS)) == 24
    assert set(SHAPES).isdisjoint(COLORS)


def test_puzzles_do_not_depend_on_the_hash_seed() -> None:
    """Two processes with different hash seeds draw the same puzzle."""
    code = "from games.asympuzl.puzzle import generate; print(generate(size=20, seed=5))"
    drawn = [
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert drawn[0] == drawn[1] == f"{generate(size=20, seed=5)}\n"


# --- answers -----------------------------------------------------------------------------------------------------------------------------

OBJECT = '{"message": "hi", "actions": []}'


@pytest.mark.parametrize(
    ("text", "ok", "strict", "message"),
    [
        pytest.param(OBJECT, True, True, "hi", id="bare"),
        pytest.param(f"I think {{so}}.\n{OBJECT}  \n", True, True, "hi", id="prose and braces before"),
        pytest.param(f"```json\n{OBJECT}\n```\n", True, True, "hi", id="fence"),
        pytest.param(f"{OBJECT} Done.", True, False, "hi", id="prose behind"),
        pytest.param(f"{OBJECT}}}", True, False, "hi", id="brace behind"),
        pytest.param(f'{OBJECT}\n{{"message": "bye"}}', True, True, "bye", id="the last one counts"),
        pytest.param(f'{OBJECT}\n{{"note": 1}}', True, False, "hi", id="another object behind"),
        pytest.param('{"answer": {"message": "in"}}', True, False, "in", id="inside another object"),
        pytest.param('{"message": "say {\\"message\\": \\"x\\"}"}', True, True, 'say {"message": "x"}', id="an object inside the message"),
        pytest.param('{"actions": []}', True, True, "", id="no message"),
        pytest.param("no braces", False, False, "", id="no object"),
        pytest.param("", False, False, "", id="empty"),
        pytest.param('{"note": 1}', False, False, "", id="no key of ours"),
        pytest.param('{"message": "cut', False, False, "", id="cut"),
        pytest.param('{"message": NaN}', False, False, "", id="NaN is not JSON"),
        pytest.param('[{"message": "x"}]', True, False, "x", id="in a list"),
        pytest.param('{"a":' * 5000, False, False, "", id="nested without end"),
    ],
)
def test_the_last_object_with_a_known_key_is_the_answer(text: str, ok: bool, strict: bool, message: str) -> None:  # noqa: FBT001
    """Strict is only what ends with it, apart from blanks and a fence."""
    found = parse_answer(text, THREE.vocabulary)
    assert (found.parse_ok, found.parse_strict, found.message) == (ok, strict, message)


@pytest.mark.parametrize(
    ("text", "message_ok", "actions_ok"),
    [
        ('{"message": "x", "actions": []}', True, True),
        ('{"message": "x"}', True, True),
        ('{"actions": []}', False, True),
        ('{"message": 3, "actions": []}', False, True),
        ('{"message": "x", "actions": {}}', True, False),
        ('{"message": "x", "actions": null}', True, False),
        ("nothing", False, False),
    ],
)
def test_faulty_fields_are_flagged_and_empty(text: str, message_ok: bool, actions_ok: bool) -> None:  # noqa: FBT001
    """A faulty message is empty, faulty actions are none."""
    found = parse_answer(text, THREE.vocabulary)
    assert (found.message_ok, found.actions_ok) == (message_ok, actions_ok)
    assert found.message == ("x" if message_ok else "")
    assert found.requests == ()


def test_half_a_surrogate_pair_in_an_answer_can_be_stored() -> None:
    """Models write them now and then; no table takes them."""
    found = parse_answer(answer("so \ud83d", replace(2, "\ud83d", "navy")), THREE.vocabulary)
    assert found.message == "so \N{REPLACEMENT CHARACTER}"
    assert [(one.shape, one.fault) for one in found.requests] == [("\N{REPLACEMENT CHARACTER}", "unknown_shape")]


@pytest.mark.parametrize(
    ("action", "fault"),
    [
        (replace(2, "cross", "maroon"), None),
        (replace(2, " Cross ", "MAROON"), None),
        (replace(0, "cross", "maroon"), "bad_position"),
        (replace(4, "cross", "maroon"), "bad_position"),
        (replace(-1, "cross", "maroon"), "bad_position"),
        (replace(10**30, "cross", "maroon"), "bad_position"),
        (replace("2", "cross", "maroon"), "bad_structure"),
        (replace(2.0, "cross", "maroon"), "bad_structure"),
        (replace(True, "cross", "maroon"), "bad_structure"),  # noqa: FBT003
        (replace(2, None, "maroon"), "bad_structure"),
        (replace(2, "cross", 7), "bad_structure"),
        ({"replace": 2}, "bad_structure"),
        ({"by": {"shape": "cross", "color": "maroon"}}, "bad_structure"),
        ({"replace": 2, "by": ["cross", "maroon"]}, "bad_structure"),
        ("cross", "bad_structure"),
        (None, "bad_structure"),
        (replace(2, "square", "maroon"), "unknown_shape"),
        (replace(2, "cross", "blue"), "unknown_color"),
        (replace(2, "cross", "unknown"), "unknown_color"),
        (replace(9, "square", "blue"), "bad_position"),
    ],
)
def test_actions_are_valid_or_have_their_reason(action: object, fault: str | None) -> None:
    """Words of the vocabulary that are not in this puzzle are unknown."""
    (found,) = parse_answer(json.dumps({"actions": [action]}), THREE.vocabulary).requests
    assert found.fault == fault


def test_actions_are_applied_in_order_and_invalid_ones_skipped() -> None:
    """A write that changes nothing is valid; two positions may become equal; positions count from 1."""
    text = answer(
        "", replace(2, "cross", "maroon"), replace(2, "blob", "navy"), replace(2, "cross", "maroon"), replace(2, "triangle", "navy")
    )
    after, done = apply(THREE.clues_b, parse_answer(text, THREE.vocabulary).requests, THREE.truth)

    assert after == written("crescent brown, triangle navy, cross maroon")
    assert [one.valid for one in done] == [True, False, True, True]
    assert [one.changed for one in done] == [True, False, False, True]
    assert [one.takes_back for one in done] == [False, False, False, True]


@given(st.text() | st.text(alphabet='{}[]":,0123mesagction\\ ', max_size=60))
def test_nothing_that_is_written_is_an_error(text: str) -> None:
    """Any text is an answer, and the turn is used up."""
    game = Game(THREE)
    game.act("A", text)
    assert game.next_agent == "B"


# --- feedback ----------------------------------------------------------------------------------------------------------------------------

A_WRONG = "Agent A's part of the puzzle is unsolved, and Agent B's part of the puzzle is solved."


@pytest.mark.parametrize(
    ("mode", "told_a", "lines_a", "told_b", "lines_b"),
    [
        ("none", None, [], None, []),
        ("own", {"a_ok": False}, ["Your part of the puzzle is unsolved."], {"b_ok": True}, ["Your part of the puzzle is solved."]),
        (
            "own_detailed",
            {"a_ok": False, "wrong_a": [2, 3]},
            ["Your part of the puzzle is unsolved.", "Wrong positions: 2, 3."],
            {"b_ok": True, "wrong_b": []},
            ["Your part of the puzzle is solved."],
        ),
        ("joint", {"all_ok": False}, ["The puzzle is unsolved."], {"all_ok": False}, ["The puzzle is unsolved."]),
        ("both", {"a_ok": False, "b_ok": True}, [A_WRONG], {"a_ok": False, "b_ok": True}, [A_WRONG]),
        (
            "both_detailed",
            {"a_ok": False, "b_ok": True, "wrong_a": [2, 3], "wrong_b": []},
            [A_WRONG, "Wrong positions of Agent A: 2, 3."],
            {"a_ok": False, "b_ok": True, "wrong_a": [2, 3], "wrong_b": []},
            [A_WRONG, "Wrong positions of Agent A: 2, 3."],
        ),
    ],
)
def test_each_mode_reveals_its_facts_and_no_more(mode: FeedbackMode, told_a: Any, lines_a: Any, told_b: Any, lines_b: Any) -> None:
    """After a turn in which A has one of three entries right and B all (format description, section 6)."""
    game = Game(THREE, GameSettings(mode=mode))
    assert [game.observe(agent).received for agent in AGENTS] == [None, None]
    game.act("A", answer("", replace(1, "crescent", "brown")))
    assert game.observe("B").received is None
    game.act("B", SOLVE_B)

    for agent, told, lines in zip(AGENTS, (told_a, told_b), (lines_a, lines_b), strict=True):
        seen = game.observe(agent)
        assert (seen.received.to_json() if seen.received else None) == told
        assert (feedback_lines(seen.received, mode) if seen.received else []) == lines
        assert all(line in seen.user for line in lines)
        assert ("Feedback" in seen.user) == bool(lines)


def test_feedback_describes_the_end_of_the_turn_before() -> None:
    """B is told in turn 2 what held after turn 1, although A has answered again."""
    game = Game(THREE, GameSettings(mode="both"))
    for agent, text in (("A", answer()), ("B", answer()), ("A", SOLVE_A)):
        game.act(agent, text)  # type: ignore[arg-type]
    told = game.observe("B").received
    assert told is not None
    assert (told.a_ok, told.b_ok) == (False, False)


# --- what is seen ------------------------------------------------------------------------------------------------------------------------


def test_messages_reach_b_in_the_same_turn_and_a_in_the_next() -> None:
    """Own message first, then the partner's newer one; an empty message is shown as one."""
    game = Game(THREE)
    assert "(there is no message yet)" in game.observe("A").user
    game.act("A", answer("one"))
    assert [tuple(heard) for heard in game.observe("B").conversation] == [("A", 1, "one")]
    game.act("B", answer(""))
    assert [tuple(heard) for heard in game.observe("A").conversation] == [("A", 1, "one"), ("B", 1, "")]
    assert "A: one\nB: \n" in game.observe("A").user
    game.act("A", answer("three"))
    assert [tuple(heard) for heard in game.observe("B").conversation] == [("B", 1, ""), ("A", 2, "three")]


def test_a_longer_history_shows_the_last_messages_of_each() -> None:
    """With length 2, in time order."""
    game = Game(THREE, GameSettings(history_length=2))
    for turn in (1, 2, 3):
        game.act("A", answer(f"a{turn}"))
        if turn < 3:
            game.act("B", answer(f"b{turn}"))
    assert [heard.text for heard in game.observe("B").conversation] == ["b1", "a2", "b2", "a3"]


def test_the_partners_actions_hypothesis_and_clues_stay_hidden() -> None:
    """A learns none of B's colors, and B none of A's order, from anything but messages."""
    game = Game(THREE, GameSettings(mode="none"))
    for _ in range(3):
        game.act("A", answer("hello"))
        game.act("B", answer("hello", replace(1, "cross", "maroon"), replace(2, "crescent", "brown")))
    seen_a, seen_b = game.observe("A"), game.observe("B")
    assert not any(str(entry.color) in seen_a.system + seen_a.user for entry in THREE.truth)
    assert seen_a.hypothesis == seen_a.clues == THREE.clues_a
    assert seen_b.clues == THREE.clues_b
    assert "Position 1: shape cross, color maroon" in seen_b.user


@pytest.mark.parametrize("agent", AGENTS)
def test_prompts_hold_the_required_parts_in_order(agent: Agent) -> None:
    """Parts 1 to 3 in the system prompt, 4 to 9 in the user prompt (format description, section 7)."""
    game = Game(THREE, GameSettings(mode="both"))
    game.act("A", answer("x"))
    game.act("B", answer("y"))
    seen: PuzzleView = game.observe(agent)
    parts = ["## Your clues", "## Your working hypothesis", "## Feedback", "## Recent conversation", "## Actions", "## Your answer"]
    places = [seen.user.index(part) for part in parts]
    assert places == sorted(places)
    assert seen.system.startswith(f"You are Agent {agent}.")
    assert "3 positions" in seen.system
    assert "Your partner cannot see your actions" in seen.user
    example = json.loads(seen.user.strip().splitlines()[-1])
    assert set(example) == {"message", "actions"}
    assert parse_answer(seen.user, THREE.vocabulary).message == ""  # an example that is given back is no answer
    assert ("color unknown" in seen.user) == (agent == "A")


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("I pass", "It had no valid JSON object"),
        ('{"message": ["x"], "actions": []}', "It had no `message` that is a text"),
        ('{"message": "x", "actions": "none"}', "Its `actions` were no list"),
        (
            '{"message": "x", "actions": [{"replace": 9, "by": {"shape": "x", "color": "y"}}]}',
            "Action 1 was skipped: the position is not one",
        ),
        (answer("x"), None),
    ],
)
def test_an_agent_is_told_what_was_wrong_with_the_form_of_its_last_answer(last: str, told: str | None) -> None:
    """It alone, and in the next turn: else it could not know why nothing came of its answer."""
    game = Game(THREE)
    game.act("A", last)
    assert "## Your last answer" not in game.observe("B").user
    game.act("B", answer("y"))
    shown = game.observe("A").user
    assert ("## Your last answer" in shown) == (told is not None)
    assert told is None or told in shown
    assert "## Your last answer" not in game.observe("B").user


# --- turns, limits, the end --------------------------------------------------------------------------------------------------------------


def test_the_game_ends_when_both_are_right_at_the_end_of_a_turn() -> None:
    """B being right does not end it, nor does A while B has not answered; nobody acts afterwards."""
    game = Game(THREE)
    game.act("A", answer())
    game.act("B", SOLVE_B)
    assert not game.done
    game.act("A", SOLVE_A)
    assert not game.done
    game.act("B", answer())
    assert game.done
    assert (game.stop_reason, game.turn, game.next_agent, game.state().success) == ("solved", 2, None, True)
    with pytest.raises(UsageError, match=r"A cannot act: the game ended after turn 2 \(solved\)"):
        game.act("A", answer())


def test_a_solved_agent_plays_on_and_may_spoil_its_part() -> None:
    """It is asked in every turn."""
    game = Game(THREE)
    game.act("A", answer())
    game.act("B", SOLVE_B)
    game.act("A", SOLVE_A)
    game.act("B", answer("", replace(1, "cross", "navy")))
    assert not game.done
    assert wrong_positions(game.state().hypotheses["B"], THREE.truth) == (1,)


@pytest.mark.parametrize("size", [3, 5, 10])
def test_the_limit_is_twice_the_number_of_positions(size: int) -> None:
    """Two silent agents play it out."""
    game = Game.drawn(size=size, seed=0)
    while (agent := game.next_agent) is not None:
        game.act(agent, answer())
    assert (game.turn, game.stop_reason, game.state().success) == (2 * size, "max_turns", False)


def test_nobody_acts_out_of_turn() -> None:
    """The message says whose turn it is."""
    with pytest.raises(UsageError, match="it is for A to act"):
        Game(THREE).act("B", answer())


@pytest.mark.parametrize("wrong", [{"history_length": 0}, {"max_turns": 0}, {"mode": "some"}, {"size": 25}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    """With the name of the setting in the message."""
    with pytest.raises(ValidationError, match=next(iter(wrong)).replace("history_length", "history").replace("max_turns", "turns")):
        GameSettings.model_validate(wrong)


def test_progress_is_the_share_of_right_entries() -> None:
    """B starts with one of three right, A with none: 1 of 6."""
    assert Game(THREE).state().progress == pytest.approx(1 / 6)


@pytest.mark.parametrize("size", [3, 5, 10, 20])
def test_full_sharing_solves_every_puzzle_in_exactly_two_turns(size: int) -> None:
    """For all 30 seeds, as the paper says and the format description checked (section 4)."""
    for seed in range(30):
        game = Game.drawn(size=size, seed=seed, settings=GameSettings(mode=FEEDBACK_MODES[seed % 6]))
        players = {agent: PersonaPlayer("sharing", agent, game.puzzle.clues(agent), seed=seed) for agent in AGENTS}
        while (agent := game.next_agent) is not None:
            game.act(agent, players[agent].answer(game.observe(agent)))
        assert (game.stop_reason, game.turn) == ("solved", 2)


# --- the control experiment, tokens, the record ------------------------------------------------------------------------------------------


def test_one_agent_alone_has_all_clues_and_one_attempt() -> None:
    """It succeeds if its hypothesis is right after the one answer; the message does not matter."""
    seen = observe(THREE)
    system, user = seen.system, seen.user
    assert "3 positions" in system
    assert all(f"shape {shape}, color {color}" in user for shape, color in THREE.clues_b)
    assert attempt(THREE, SOLVE_A).ok_after
    assert not attempt(THREE, answer("I know it")).ok_after


def test_regex_tokens_are_words_and_marks() -> None:
    """`\\w+|[^\\w\\s]`: seven in the example, none in nothing."""
    count = tokenizer("regex-v1")
    assert count("Which color, 2 or 3?") == 7
    assert count(" \n") == 0


@pytest.mark.parametrize(
    ("name", "message"), [("words", "no tokenizer 'words'"), ("tiktoken:no_such_table", "tiktoken has no encoding 'no_such_table'")]
)
def test_unknown_tokenizers_are_refused(name: str, message: str) -> None:
    """With what there is."""
    with pytest.raises(UsageError, match=message):
        tokenizer(name)


RAW = (
    'Swap 2 and 3. {"message":"crescent brown, cross maroon, triangle navy",'
    '"actions":[{"replace":2,"by":{"shape":"cross","color":"maroon"}}]}'
)


def test_the_record_is_the_example_of_the_format_description() -> None:
    """Every field of its `turn` record (section 10), prompts aside; token numbers by regex-v1."""
    game = Game(THREE, GameSettings(mode="both"))
    game.act("A", answer("Order of shapes: 1 crescent, 2 cross, 3 triangle."))
    run = RunFacts(run_id="demo", model_a="x", model_b="y")
    seen = game.observe("B")
    record = turn_line(run, str(game_line(run, game, 0)["game_id"]), seen, game.act("B", RAW))

    prompts = {record.pop("system_prompt"), record.pop("user_prompt")}
    assert prompts == {seen.system, seen.user}
    assert record == {
        "type": "turn",
        "game_id": "demo:3:both:0",
        "turn": 1,
        "agent": "B",
        "feedback": None,
        "received": [{"from": "A", "turn": 1, "text": "Order of shapes: 1 crescent, 2 cross, 3 triangle."}],
        "raw_output": RAW,
        "parse_ok": True,
        "parse_strict": True,
        "message_ok": True,
        "actions_ok": True,
        "message": "crescent brown, cross maroon, triangle navy",
        "actions": [
            {
                "index": 0,
                "replace": 2,
                "shape": "cross",
                "color": "maroon",
                "valid": True,
                "reason": None,
                "before": {"shape": "triangle", "color": "navy"},
                "after": {"shape": "cross", "color": "maroon"},
                "changed": True,
                "right_before": False,
                "right_after": True,
            }
        ],
        "hypothesis_after": [
            {"shape": "crescent", "color": "brown"},
            {"shape": "cross", "color": "maroon"},
            {"shape": "cross", "color": "maroon"},
        ],
        "own_ok_after": False,
        "wrong_after": [3],
        "output_tokens": 57,
        "message_tokens": 8,
        "latency_s": None,
    }


def test_a_game_may_have_one_turn() -> None:
    """The least of both settings is allowed."""
    assert Game.drawn(size=5, seed=1, settings=GameSettings(max_turns=1, history_length=1)).max_turns == 1
