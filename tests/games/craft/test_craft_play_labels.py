"""Planted truth: hand-worked turns, a second computation from plans and boards, and texts that say what the plans say."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from itertools import chain
from typing import Any

import pytest
import yaml

from games.craft.engine.board import COLORS, Board
from games.craft.engine.rules import Move
from games.craft.game import Game, GameSettings
from games.craft.players.builders import BuilderDecision, IntendedMove
from games.craft.players.directors import PERSONAS
from games.craft.players.sight import BuiltMove, Instruction, Plan
from games.craft.players.speech import Grammar
from games.craft.players.truths import TurnFacts, Voice, planted_labels
from games.craft.targets import Structure, generate_structures
from games.craft.text.replies import NO_MESSAGE, NO_THINKING, builder_line, parse_director
from tests.scripted import craft_turns

OWN = {"D1": {"(0,0)", "(1,0)", "(2,0)"}, "D2": {"(0,0)", "(0,1)", "(0,2)"}, "D3": {"(0,2)", "(1,2)", "(2,2)"}}
ONLY_OWN = {"D1": {"(1,0)", "(2,0)"}, "D2": {"(0,1)"}, "D3": {"(1,2)", "(2,2)"}}


# -- hand-worked turns ------------------------------------------------------------------------------------

TARGET = Board.from_json(
    {
        "(0,0)": ["gl", "rs"],
        "(0,1)": ["gl", "bs"],
        "(0,2)": ["ys"],
        "(1,0)": ["bs", "ol"],
        "(2,0)": ["rs", "ol"],
        "(1,2)": ["os"],
    },
    {"0": [["(0,0)", "(0,1)"]], "1": [["(1,0)", "(2,0)"]]},
)
"""Large green over (0,0) and (0,1), which D1 sees as small; large orange over (1,0) and (2,0)."""

BLUE_MIDDLE = Instruction("place", "b", "s", "(1,0)", 0)
GREEN_SMALL = Instruction("place", "g", "s", "(0,0)", 0)
GREEN_LARGE = Instruction("place", "g", "l", "(0,0)", 0, "(0,1)")
ORANGE_LARGE = Instruction("place", "o", "l", "(1,0)", 1, "(2,0)")
PLACE_BLUE = Move("place", "bs", "(1,0)", 0)


def facts_of(
    *plans: tuple[str, Plan],
    move: Move = PLACE_BLUE,
    followed: str | None = "D1",
    slips: tuple[str, ...] = (),
    before: tuple[Move, ...] = (),
    earlier: tuple[tuple[str, Plan], ...] = (),
    line: str | None = None,
    oracle: bool = True,
) -> TurnFacts:
    """Give a turn on ``TARGET`` after some accepted moves; ``line`` replaces the line of the intended move."""
    game = Game(Structure("structure_001", "simple", TARGET), GameSettings(oracle=oracle, same_turn_messages=True))
    for done in before:
        _speak(game)
        game.act("builder", builder_line(done, "done"))
    _speak(game)
    record = game.act("builder", line or builder_line(move, "as asked"))
    assert record is not None
    return TurnFacts(
        record=record,
        target=TARGET,
        voices=tuple(_voice(record.turn, *plan) for plan in plans),
        earlier=tuple(_voice(record.turn - 1, *plan) for plan in earlier),
        done=tuple(BuiltMove(number, done, accepted=True) for number, done in enumerate(before, start=1)),
        decision=BuilderDecision(record.builder_text, None if record.written is None else IntendedMove(move, followed), slips),  # type: ignore[arg-type]
    )


def _speak(game: Game) -> None:
    for director in game.state().speakers:
        game.act(director, "")


def _voice(turn: int, director: Any, plan: Plan) -> Voice:
    return Voice(turn, director, plan, parse_director("<think>t</think><message>m</message>"))


def asks(instruction: Instruction, **changes: Any) -> Plan:
    return replace(Plan(thought=instruction, request=instruction), **changes)


def answers(facts: TurnFacts, agent: str | None = None) -> dict[str, str]:
    """Question -> answer of one agent."""
    return {label.question: label.answer for label in planted_labels(facts) if label.agent == agent}


def test_a_clear_request_of_a_cell_only_its_director_sees() -> None:
    """A right, complete, executable request for a unique cell is Yes throughout."""
    facts = facts_of(("D1", asks(BLUE_MIDDLE, perspective="explicit")))
    yes = {f"SG{n}": "Yes" for n in range(1, 8)} | {f"MM{n}": "Yes" for n in (1, 2, 4, 5, 6, 8)}
    assert answers(facts, "D1") == yes | {"MM7": "N/A"}
    assert answers(facts) == {f"PS{n}": "Yes" for n in range(1, 6)} | {"PS6": "N/A"}


def test_half_a_domino_that_looks_small() -> None:
    """D1 truthfully asks for a small block where a large one stands: size as seen, a near miss of the candidate."""
    facts = facts_of(("D1", asks(GREEN_SMALL)))
    found = answers(facts, "D1")
    assert (found["SG1"], found["SG5"], found["SG6"], found["MM5"]) == ("Yes", "Yes", "Yes", "No")
    assert "SG4" not in found
    assert {label.planted for label in planted_labels(facts) if label.agent == "D1"} == {"apparent_size"}


def test_asking_for_the_upper_block_too_early() -> None:
    """The block belongs there, its support is missing: right block, wrong layer, refused."""
    found = answers(facts_of(("D1", asks(ORANGE_LARGE))), "D1")
    assert (found["SG1"], found["SG3"], found["SG5"], found["SG6"]) == ("Yes", "No", "No", "Yes")
    assert "MM6" not in found


def test_a_block_of_a_colour_that_is_missing_nowhere() -> None:
    """Yellow belongs nowhere in (1,0)."""
    found = answers(facts_of(("D1", asks(replace(BLUE_MIDDLE, color="y")))), "D1")
    assert (found["SG1"], found["SG4"], found["SG5"]) == ("No", "No", "Yes")
    assert "SG3" not in found


def test_removing_what_is_not_there() -> None:
    """A removal from an empty cell names no missing block and is refused."""
    found = answers(facts_of(("D1", asks(replace(BLUE_MIDDLE, verb="remove")))), "D1")
    assert (found["SG1"], found["SG2"], found["SG4"], found["SG5"]) == ("No", "Yes", "No", "No")
    assert not {"SG3", "SG6", "MM6"} & set(found)


def test_removing_or_asking_again_for_what_is_right() -> None:
    """With the blue block in place, removing it and placing it again both mention what is right."""
    before = (PLACE_BLUE,)
    removing = answers(facts_of(("D1", asks(replace(BLUE_MIDDLE, verb="remove"))), before=before), "D1")
    assert (removing["SG1"], removing["SG2"], removing["SG5"], removing["MM6"]) == ("No", "No", "Yes", "Yes")
    again = facts_of(("D1", asks(BLUE_MIDDLE)), before=before, earlier=(("D1", asks(BLUE_MIDDLE)),), move=Move("place", "bs", "(0,1)", 0))
    placing = answers(again, "D1")
    assert (placing["SG1"], placing["SG2"], placing["SG3"], placing["SG5"], placing["MM2"]) == ("No", "No", "No", "No", "No")


def test_a_repeated_request_that_was_never_carried_out_is_left_out() -> None:
    """Asking again after a failure is neither new nor redundant."""
    assert "MM2" not in answers(facts_of(("D1", asks(BLUE_MIDDLE)), earlier=(("D1", asks(BLUE_MIDDLE)),)), "D1")


def test_a_correction_of_a_wrong_block_is_no_false_removal() -> None:
    """The small yellow block in the way: its removal is no matter of SG1, and the candidate once the stack is full."""
    before = (Move("place", "ys", "(0,2)", 0), Move("place", "gs", "(0,2)", 1))
    found = answers(facts_of(("D3", asks(Instruction("remove", "g", "s", "(0,2)", 1))), before=before, followed="D3"), "D3")
    assert "SG1" not in found
    assert (found["SG2"], found["SG4"], found["SG5"], found["MM6"]) == ("Yes", "Yes", "Yes", "Yes")


def test_reasoning_that_wanders() -> None:
    """A mention of a right block asks for nothing and leaves SG2 as it is, a mention of another wall spoils SG7."""
    aside = asks(Instruction("place", "r", "s", "(2,0)", 0), right_block=("(1,0)", 0, "b"))
    assert answers(facts_of(("D1", aside), before=(PLACE_BLUE,)), "D1")["SG2"] == "Yes"
    assert answers(facts_of(("D1", asks(BLUE_MIDDLE, other_wall="(0,1)"))), "D1")["SG7"] == "No"


@pytest.mark.parametrize(
    ("partial", "carried_over", "executable"),
    [
        (replace(BLUE_MIDDLE, color=None), None, "No"),
        (replace(BLUE_MIDDLE, size=None), None, "No"),
        (replace(BLUE_MIDDLE, cell=None, layer=None), "No", "No"),
        (replace(BLUE_MIDDLE, layer=1), "No", None),
        (None, "No", "No"),
    ],
)
def test_messages_that_drop_something(partial: Instruction | None, carried_over: str | None, executable: str | None) -> None:
    """What the message drops decides MM4 and MM6."""
    plan = Plan(kind="request" if partial else "filler", thought=BLUE_MIDDLE, request=partial)
    found = answers(facts_of(("D1", plan)), "D1")
    assert (found.get("MM4"), found.get("MM6")) == (carried_over, executable)


def test_a_large_block_without_its_second_cell() -> None:
    """One end of a large block is not enough to act on, nor to know the place."""
    facts = facts_of(("D2", Plan(thought=GREEN_LARGE, request=replace(GREEN_LARGE, span_to=None))), followed="D2")
    found = answers(facts, "D2")
    assert (found["MM4"], found["MM6"]) == ("No", "No")
    assert answers(facts)["PS1"] == "Yes"
    assert "PS4" not in answers(facts)


def test_contradictions_and_who_acknowledges_them() -> None:
    """Of the earlier speaker nothing is asked, since it could not hear it; the later one has settled it if it says so."""
    first, second = asks(GREEN_LARGE), asks(GREEN_SMALL, disputes="D2")
    facts = facts_of(("D2", first), ("D1", second))
    assert "MM7" not in answers(facts, "D2")
    assert answers(facts, "D1")["MM7"] == "Yes"
    silent = facts_of(("D2", first), ("D1", asks(GREEN_SMALL)))
    assert answers(silent, "D1")["MM7"] == "No"
    assert "PS3" not in answers(facts)
    apart = facts_of(("D2", first), ("D3", asks(Instruction("place", "o", "s", "(1,2)", 0))))
    assert answers(apart, "D3")["MM7"] == "N/A"


def test_saying_what_another_says() -> None:
    """The same request twice adds nothing; other blocks of the same cells are a matter of taste; other cells add something."""
    same = facts_of(("D2", asks(GREEN_LARGE)), ("D1", asks(GREEN_LARGE)))
    assert (answers(same, "D2")["MM1"], answers(same, "D1")["MM1"]) == ("No", "No")
    overlap = facts_of(("D2", asks(GREEN_LARGE)), ("D1", asks(GREEN_SMALL)))
    assert "MM1" not in answers(overlap, "D1")
    turn_before = facts_of(
        ("D1", asks(GREEN_LARGE)), earlier=(("D2", asks(GREEN_LARGE)),), before=(PLACE_BLUE,), move=Move("place", "rs", "(2,0)", 0)
    )
    assert answers(turn_before, "D1")["MM1"] == "No"


def test_both_kinds_of_cells_leave_mm5_open() -> None:
    """A large block over a shared and a unique cell is neither."""
    assert "MM5" not in answers(facts_of(("D2", asks(GREEN_LARGE)), followed="D2"), "D2")


def test_praise_alone_is_insufficient_for_the_group() -> None:
    """Nothing but filler: no place, no block, no candidate; an accepted wrong guess is the messages' fault."""
    filler = Plan(kind="filler", thought=BLUE_MIDDLE, perspective="bare", defects=("filler_only",))
    facts = facts_of(("D1", filler), move=Move("place", "gs", "(2,2)", 0), followed=None)
    assert answers(facts) == {"PS1": "No", "PS2": "No", "PS3": "No", "PS4": "No", "PS6": "Yes"}
    assert (answers(facts, "D1")["MM1"], answers(facts, "D1")["MM8"]) == ("No", "No")


@pytest.mark.parametrize(
    ("slip", "written", "understood", "underspecified"),
    [
        ("layer_slip", Move("place", "bs", "(1,0)", 2), "Yes", "No"),
        ("color_slip", Move("place", "gs", "(1,0)", 0), "No", None),
        ("frame_flip", Move("place", "bs", "(1,2)", 0), "No", None),
        ("space_in_coordinate", Move("place", "bs", "(1, 0)", 0), None, "N/A"),
    ],
)
def test_builder_slips(slip: str, written: Move, understood: str | None, underspecified: str | None) -> None:
    """Slips of the layer were understood, of colour and side were not; the directions were sufficient either way."""
    facts = facts_of(("D1", asks(BLUE_MIDDLE)), slips=(slip,), line=builder_line(written, "as asked"))
    found = answers(facts)
    assert (found.get("PS5"), found.get("PS6")) == (understood, underspecified)
    assert {label.planted for label in planted_labels(facts) if label.agent is None} == {f"builder_slip:{slip}"}


def test_a_question_has_no_confirmation() -> None:
    """Clarifying makes PS5 not applicable; whether PS6 is the messages' fault is left out."""
    found = answers(facts_of(("D1", asks(BLUE_MIDDLE)), line="CLARIFY:which one?"))
    assert (found["PS5"], found.get("PS6")) == ("N/A", None)


def test_without_candidates_nothing_is_said_about_them() -> None:
    """Without oracle SG4 and PS6 do not apply, PS2 and PS3 have no row."""
    facts = facts_of(("D1", asks(BLUE_MIDDLE)), oracle=False)
    assert answers(facts, "D1")["SG4"] == "N/A"
    assert answers(facts)["PS6"] == "N/A"
    assert not {"PS2", "PS3"} & set(answers(facts))


@pytest.mark.parametrize(
    ("fault", "prefixes"), [("output_blank", set()), ("output_empty_message", {"SG"}), ("output_no_tags", {"MM", "PS"})]
)
def test_what_cannot_be_read_has_no_rows(fault: Any, prefixes: set[str]) -> None:
    """Rows need the text they are about."""
    raw = {"output_blank": "", "output_empty_message": "<think>t</think><message></message>", "output_no_tags": "some message"}[fault]
    facts = facts_of(("D1", asks(BLUE_MIDDLE)))
    voice = replace(facts.voices[0], answer=parse_director(raw), plan=asks(BLUE_MIDDLE, fault=fault))
    assert {label.question[:2] for label in planted_labels(replace(facts, voices=(voice,)))} == prefixes


# -- a second computation ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def turns() -> list[TurnFacts]:
    """Turns of every persona with two builders on two targets."""
    structures = list(generate_structures(1, seed=21))
    settings = GameSettings(same_turn_messages=True)
    teams = [(persona, builder) for persona in PERSONAS for builder in ("sloppy", "literal")]
    return list(chain.from_iterable(craft_turns(structure, settings, *one, seed=5) for structure in structures for one in teams))


def labelled(turns: list[TurnFacts], question: str) -> Iterator[tuple[TurnFacts, Voice, str]]:
    for facts in turns:
        voices = {str(voice.director): voice for voice in facts.voices}
        for label in planted_labels(facts):
            if label.question == question and label.agent is not None:
                yield facts, voices[label.agent], label.answer


def cells_of(instruction: Instruction | None) -> set[str]:
    return set() if instruction is None else {cell for cell in (instruction.cell, instruction.span_to) if cell}


def test_sg7_and_mm5_follow_from_the_walls(turns: list[TurnFacts]) -> None:
    """Own cells, and cells nobody else sees, by a table of the walls."""
    for _, voice, answer in labelled(turns, "SG7"):
        named = (
            cells_of(voice.plan.thought)
            | ({voice.plan.other_wall} - {None})
            | ({voice.plan.right_block[0]} if voice.plan.right_block else set())
        )
        assert (answer == "Yes") == (named <= OWN[voice.director])
    for _, voice, answer in labelled(turns, "MM5"):
        unique = cells_of(voice.plan.request) & ONLY_OWN[voice.director]
        assert answer == ("Yes" if unique == cells_of(voice.plan.request) else "No")
        assert unique in (set(), cells_of(voice.plan.request))


def test_sg3_and_sg6_follow_from_heights_and_halves(turns: list[TurnFacts]) -> None:
    """Heights from the logged stacks, apparent sizes from the target's span records."""
    for facts, voice, answer in labelled(turns, "SG3"):
        thought = voice.plan.thought
        assert thought is not None
        stacks = facts.record.board_before.structure_json()
        assert (answer == "Yes") == (thought.layer == len(stacks[thought.cell or ""]))
    for facts, voice, answer in labelled(turns, "SG6"):
        thought = voice.plan.thought
        assert thought is not None
        pairs = facts.target.spans_json().get(str(thought.layer), [])
        whole = any(thought.cell in pair and set(pair) <= OWN[voice.director] for pair in pairs)
        assert (answer == "Yes") == ((thought.size == "l") == whole)


def test_sg5_is_what_a_fresh_engine_says(turns: list[TurnFacts]) -> None:
    """The thought, carried out on the logged board, is accepted or not."""
    for facts, voice, answer in labelled(turns, "SG5"):
        thought = voice.plan.thought
        assert thought is not None
        board = Board.from_json(facts.record.board_before.structure_json(), facts.record.board_before.spans_json())
        stack, layer, cell = board.stack(thought.cell or ""), thought.layer, thought.cell
        if thought.verb == "remove":
            partner = next((set(pair) - {cell} for pair in board.spans_json().get(str(layer), []) if cell in pair), set[str | None]())
            even = all(len(board.stack(other or "")) == len(stack) for other in partner)
            large = bool(stack) and stack[-1][1] == "l"
            possible = layer == len(stack) - 1 and len(stack) > 0 and even and (bool(partner) or not large)
        else:
            hidden = thought.size == "l" and {"(1,1)", "(2,1)"} & cells_of(thought)
            possible = (
                layer is not None and layer < 3 and not hidden and all(len(board.stack(other)) == layer for other in cells_of(thought))
            )
        assert (answer == "Yes") == possible


def test_mm6_yes_means_complete(turns: list[TurnFacts]) -> None:
    """No part of an executable message is missing, some part of a No is."""
    for _, voice, answer in labelled(turns, "MM6"):
        request = voice.plan.request
        parts = (None,) if request is None else (request.color, request.size, request.cell, request.span_to if request.size == "l" else "")
        assert (answer == "Yes") == (None not in parts)


# -- texts say what the plans say -------------------------------------------------------------------------

COLOR_WORD = re.compile(rf"\b({'|'.join(COLORS.values())})\b")
PERSPECTIVE = re.compile(r"\b(I|me|my|mine|D[123])\b", re.IGNORECASE)
COORDINATE = re.compile(r"\(\d,\d\)")
BELOW = re.compile(r"right on top of the \w+ one|the \w+ one below carries it", re.IGNORECASE)


def spoken(turns: list[TurnFacts]) -> list[Voice]:
    return [voice for facts in turns for voice in facts.voices if voice.speaks]


def test_messages_name_exactly_the_colours_of_the_plan(turns: list[TurnFacts]) -> None:
    """The colour that is said and no other, the block below aside."""
    for voice in spoken(turns):
        found = set(COLOR_WORD.findall(BELOW.sub("", voice.answer.message)))
        color = voice.plan.request.color if voice.plan.request else None
        assert found == ({COLORS[color]} if color else set()), voice.answer.message


def test_messages_name_a_layer_if_and_only_if_the_plan_does(turns: list[TurnFacts]) -> None:
    """Layer words come with located requests only."""
    for voice in spoken(turns):
        named = re.search(r"\b(bottom|lowest|ground|second|third|top|uppermost|middle|layer [012])\b", BELOW.sub("", voice.answer.message))
        assert bool(named) == (voice.plan.request is not None and voice.plan.request.layer is not None), voice.answer.message


def test_bare_messages_have_no_marker_of_perspective(turns: list[TurnFacts]) -> None:
    """Where MM8 is No the text has neither I nor my nor a director's name."""
    for _, voice, answer in labelled(turns, "MM8"):
        if answer == "No":
            assert not PERSPECTIVE.search(voice.answer.message), voice.answer.message


def test_reasoning_names_no_cells_but_the_planned_ones_and_the_own_wall(turns: list[TurnFacts]) -> None:
    """Coordinates in the reasoning are the plan's; foreign ones only where SG7 says so."""
    for _, voice, answer in labelled(turns, "SG7"):
        named = set(COORDINATE.findall(voice.answer.thinking))
        assert (answer == "Yes") == (named <= OWN[voice.director])
        assert cells_of(voice.plan.thought) <= named


def test_directors_know_only_their_wall() -> None:
    """Another target behind the same wall changes nothing in what a director decides before it has heard anybody."""
    first, second = generate_structures(2, seed=33)
    kept = (cell in OWN["D1"] for cell in first.target.structure_json())
    stacks = tuple(one if keep else two for keep, one, two in zip(kept, first.target.stacks, second.target.stacks, strict=True))
    spans = tuple((layer, tuple(span for span in spans if set(span) <= OWN["D1"])) for layer, spans in first.target.spans)
    other = replace(first, target=Board(stacks, spans))
    assert other.target.stacks != first.target.stacks
    settings, opened = GameSettings(same_turn_messages=True), 0
    for seed in range(12):
        here, there = (next(craft_turns(one, settings, "mixed", "literal", seed=seed)) for one in (first, other))
        if here.voices[0].director == "D1":
            opened += 1
            assert here.voices[0].plan == there.voices[0].plan
    assert opened > 1


def test_unreadable_answers_are_planted_as_such(turns: list[TurnFacts]) -> None:
    """An answer misses reasoning or message only where a fault of output is planted."""
    for facts in turns:
        for voice in facts.voices:
            missing = voice.answer.thinking == NO_THINKING or voice.answer.message in ("", NO_MESSAGE)
            assert not missing or voice.plan.fault is not None
            assert voice.plan.fault is None or voice.plan.fault in voice.plan.defects


def test_all_wording_can_be_expanded() -> None:
    """Templates name nothing but other symbols and the slots that the code fills."""
    rules = yaml.safe_load(resources.files("games.craft.players").joinpath("wording.yaml").read_text(encoding="utf-8"))
    filled = "det size color n cell span who who2 h owner sharer under wall aside finding stack doing where col col2 colnoun lay"
    filled += " block spot opener request remark tail cell3 n3 color3 cell4"
    named = {name for alternatives in rules.values() for text in alternatives for name in re.findall(r"\{([\w.]+)\}", text)}
    assert named <= set(rules) | set(filled.split())
    with pytest.raises(KeyError, match="nowhere"):
        Grammar({"say": ["{nowhere}"]}).sentence("say", {}, random.Random(0))


def test_sentences_are_tidied() -> None:
    """Blanks, articles, marks and capitals come out as a reader expects."""
    grammar = Grammar({"say": ["  put a {x} block, {y} . it  fits"]})
    assert grammar.sentence("say", {"x": "orange", "y": ""}, random.Random(0)) == "Put an orange block. It fits"
    assert grammar.sentence("say", {"x": "one-cell", "y": "small,"}, random.Random(0)) == "Put a one-cell block, small. It fits"
