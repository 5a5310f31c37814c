"""What is read out of messages, and the derived labels, each where it holds and where it does not (format description, section 9)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.game import AgentTurn, Game, GameSettings
from games.asympuzl.labels import FAILURES, DoneTurn, Move, labels_of
from games.asympuzl.players import PERSONAS, PersonaPlayer
from games.asympuzl.puzzle import AGENTS, Agent, generate

PUZZLE = generate(size=3, seed=0)
"""Truth: crescent brown, cross maroon, triangle navy. B's clues: crescent brown, triangle navy, cross maroon."""

ORDER = {(1, "crescent"), (2, "cross"), (3, "triangle")}
COLORS = {("crescent", "brown"), ("cross", "maroon"), ("triangle", "navy")}


# --- reading -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "Order of shapes: 1 crescent, 2 cross, 3 triangle.",
        "Position 1 is the crescent. Position 2: cross; position 3 = triangle",
        "1. crescent 2. cross 3. triangle",
        "1. crescent\n2. cross\n3. triangle",
        "1) Crescent\n2) CROSS\n3) Triangle",
        "The shapes in order are crescent, cross and triangle. What colors do they have?",
        "My order: crescent -> cross -> triangle. Which color has the cross?",
        "The crescent is in position 1, the cross is second and the triangle goes to 3.",
        "crescent (1), cross (2), triangle (3)",
        "The first shape is crescent, the second is the cross, and the third one is triangle.",
        "Position 1 = crescent (color?), Position 2 = cross (color?), Position 3 = triangle (color?)",
        '{"1": "crescent", "2": "cross", "3": "triangle"}',
        "pos1 crescent, pos2 cross, pos3 triangle",
        "#1 crescent | #2 cross | #3 triangle",
        "Positions 1-3: crescent, cross, triangle",
        "Shape order (1→3): crescent, cross, triangle",
        "1=crescent, 2=cross, 3=triangle",
        "Position one is crescent, position two is cross, position three is triangle",
        "My shapes, from first to last: crescent, cross, triangle.",
        "I have crescent in position 1, cross in position 2 and triangle in position 3. Could you tell me the color of each shape?",
        "Position 1: shape crescent, color unknown; position 2: shape cross, color unknown; position 3: shape triangle, color unknown",
    ],
)
def test_an_order_is_read(message: str) -> None:
    """In the ways in which A may put it."""
    found = read_facts(message, PUZZLE.vocabulary, "A")
    assert found == Facts(order=frozenset(ORDER))
    assert found.unread == ()


@pytest.mark.parametrize(
    "message",
    [
        "crescent brown, cross maroon, triangle navy",
        "The brown crescent, the maroon cross and the navy triangle.",
        "crescent=brown, cross=maroon, triangle=navy",
        "The crescent is brown and the cross is maroon. triangle: navy",
        "crescent (brown), cross (maroon), triangle (navy)",
        "crescent brown cross maroon triangle navy",
        "The crescent has the color brown. The color of the cross is maroon. Color of triangle: navy",
        "Crescent = brown.\nCross = maroon.\nTriangle = navy.",
        "crescent -> brown; cross -> maroon; triangle -> navy",
        "crescent/brown, cross/maroon, triangle/navy",
        "(crescent, brown), (cross, maroon), (triangle, navy)",
        "Brown for crescent, maroon for cross and navy for triangle",
        "The crescent's color is brown, the cross's color is maroon, the triangle's color is navy",
        '[{"shape": "crescent", "color": "brown"}, {"shape": "cross", "color": "maroon"}, {"shape": "triangle", "color": "navy"}]',
        "**crescent**: brown\n**cross**: maroon\n**triangle**: navy",
    ],
)
def test_colors_are_read(message: str) -> None:
    """In the ways in which B may put it; a list of pairs is no order."""
    found = read_facts(message, PUZZLE.vocabulary, "B")
    assert found == Facts(colors=frozenset(COLORS))
    assert found.unread == ()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("The cross comes in maroon.", Facts(colors=frozenset({("cross", "maroon")}))),
        ("At 3 I have the triangle", Facts(order=frozenset({(3, "triangle")}))),
        ("Hi! The crescent comes first, then the cross, and the last one is the triangle.", Facts(order=frozenset(ORDER))),
        ("Left to right: crescent, cross, triangle. Thanks a lot, partner!", Facts(order=frozenset(ORDER))),
        ("Great, thank you! I don't know any colors.", Facts()),
        ("No worries! Once you reply with all 3 colors, I'll try to finish my side.", Facts()),
        ("Could you please send me the color for each shape?", Facts()),
    ],
)
def test_what_models_write_is_understood(message: str, expected: Facts) -> None:
    """Whole: nothing is left of which it could depend what was said."""
    found = read_facts(message, PUZZLE.spoken, "A")
    assert found == expected
    assert found.unread == ()


@pytest.mark.parametrize(
    "message",
    [
        "crescent, cross, triangle",
        "I have crescent, cross and triangle.",
        "The triangle comes last, then the cross.",
        "Yes, exactly.",
        "No.",
        "That is wrong.",
        "All 3 positions are shifted by one.",
        "Mine are the other way round.",
        "Please swap those.",
        "The cross is either maroon or navy.",
        "crescent and cross are brown and maroon, respectively",
        "I think the cross is maroon.",
        "The cross was at 2.",
        "What color is the cross at position 2?",
        "Position 1 crescent?",
        "The triangle shines in navy light.",
    ],
)
def test_what_is_not_understood_is_listed(message: str) -> None:
    """A list without a word for order has none, and a doubt, an alternative or a confirmation states nothing for certain."""
    found = read_facts(message, PUZZLE.spoken, "A")
    assert found in (Facts(), Facts(colors=frozenset({("triangle", "navy")})), Facts(order=frozenset({(3, "triangle")})))
    assert found.unread


def test_places_and_colors_of_one_sentence_are_read_together() -> None:
    """A numbered pair says three things."""
    found = read_facts("2: maroon cross", PUZZLE.vocabulary, "A")
    assert found == Facts(frozenset({(2, "cross")}), frozenset({("cross", "maroon")}), frozenset({(2, "maroon")}))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Hello!",
        "Which color has the cross?",
        "Is the crescent first? Is the cross brown?",
        "Do you have crescent, cross, triangle in order?",
        "Position 2 is not the cross.",
        "The cross isn't maroon.",
        "If the cross is maroon, position 2 is done.",
        "Maybe the cross is maroon.",
        "My shapes are crescent, cross, triangle",
        "The cross is next to something maroon.",
        "Positions 1 and 3 are wrong.",
        "Position 4 is the cross.",
        "The square is blue.",
    ],
)
def test_questions_conditions_and_negations_state_nothing(message: str) -> None:
    """Nor do words of other puzzles; and a bare list from B is no order."""
    assert read_facts(message, PUZZLE.vocabulary, "B") == Facts()


def test_false_statements_are_read_too() -> None:
    """Reading does not judge."""
    assert read_facts("The cross is navy.", PUZZLE.vocabulary, "B") == Facts(colors=frozenset({("cross", "navy")}))


# --- labels by hand ----------------------------------------------------------------------------------------------------------------------


def replace(place: object, shape: str, color: str) -> dict[str, Any]:
    return {"replace": place, "by": {"shape": shape, "color": color}}


def answer(message: str = "", *actions: dict[str, Any]) -> str:
    return json.dumps({"message": message, "actions": list(actions)})


def labels(*texts: str) -> set[str]:
    """The labels of the last of these answers: A, B, A, B, ..."""
    game = Game(PUZZLE, GameSettings(max_turns=20))
    for number, text in enumerate(texts):
        game.act(AGENTS[number % 2], text)
    return {found.label for found in labels_of(done(game.answers), PUZZLE)}


def done(turns: Sequence[AgentTurn]) -> list[DoneTurn]:
    return [
        DoneTurn(
            agent=turn.agent,
            turn=turn.turn,
            parse_ok=turn.answer.parse_ok,
            message=turn.answer.message,
            moves=tuple(Move(one.request.replace, one.request.fault, one.changed, one.takes_back) for one in turn.applied),
            before=turn.before,
            after=turn.after,
        )
        for turn in turns
    ]


TELL_ORDER = answer("1 crescent, 2 cross, 3 triangle")
TELL_COLORS = answer("crescent brown, cross maroon, triangle navy")
RIGHT_B = (replace(2, "cross", "maroon"), replace(3, "triangle", "navy"))
IDLE = answer("hm")
FLIP, FLOP = replace(2, "cross", "navy"), replace(2, "cross", "brown")


@pytest.mark.parametrize(
    ("label", "texts"),
    [
        pytest.param("no_json", ("I pass",), id="prose"),
        pytest.param("invalid_action", (answer("", replace(0, "cross", "maroon")),), id="position 0"),
        pytest.param("repeated_message", (answer("Hello, B!"), IDLE, answer("hello b")), id="apart from case and marks"),
        pytest.param("ignored_partner", (TELL_ORDER, answer("ok")), id="B keeps its order"),
        pytest.param("ignored_partner", (TELL_ORDER, TELL_COLORS, answer("ok")), id="A leaves colors open"),
        pytest.param("ignored_partner", (IDLE, TELL_COLORS, answer("", replace(1, "crescent", "brown"))), id="A takes one of three"),
        pytest.param("overcorrection", (TELL_ORDER, answer("", replace(1, "cross", "maroon"))), id="B's right entry"),
        pytest.param("overcorrection", (IDLE, answer("", *RIGHT_B, replace(2, "cross", "navy"))), id="right for a moment"),
        pytest.param("wasted_write", (IDLE, answer("", replace(1, "crescent", "brown"))), id="the same again"),
        pytest.param(
            "correction_spiral",
            (answer("1", FLIP), IDLE, answer("2", FLOP), IDLE, answer("3", FLIP)),
            id="three changes in three turns",
        ),
        pytest.param("correction_spiral", (answer("1", FLIP, FLOP, FLIP),), id="three changes in one turn"),
        pytest.param(
            "correction_spiral",
            (answer("1", FLIP, FLOP, FLIP), IDLE, answer("2"), IDLE, answer("3"), IDLE, answer("4")),
            id="three turns ago",
        ),
        pytest.param("out_of_knowledge_claim", (answer("The square and the cross is navy."),), id="A states a color first"),
        pytest.param("out_of_knowledge_claim", (answer("The cross is beige."),), id="a color that is not in play"),
        pytest.param("out_of_knowledge_claim", (answer("position 2 is navy"),), id="a color of a position"),
        pytest.param("out_of_knowledge_claim", (IDLE, answer("Position 1 is the triangle.")), id="B states an order first"),
        pytest.param("out_of_knowledge_claim", (TELL_ORDER, answer("Position 1 is the triangle.")), id="B states another order"),
        pytest.param("wrong_statement", (answer("Position 1 is the cross."),), id="A has the cross at 2"),
        pytest.param("wrong_statement", (IDLE, answer("The cross comes in navy.")), id="B has it in maroon"),
        pytest.param("wrong_statement", (answer("Left to right: cross, crescent, triangle."),), id="A exchanges two in a list"),
        pytest.param("sufficient_message", (TELL_ORDER,), id="A says all"),
        pytest.param("sufficient_message", (IDLE, TELL_COLORS), id="B says all"),
    ],
)
def test_a_label_holds(label: str, texts: tuple[str, ...]) -> None:
    """For the last answer."""
    assert label in labels(*texts)


@pytest.mark.parametrize(
    ("label", "texts"),
    [
        pytest.param("no_json", (answer(),), id="an empty object is one"),
        pytest.param("invalid_action", (answer("", FLIP),), id="valid"),
        pytest.param("repeated_message", (IDLE, IDLE), id="the partner said it"),
        pytest.param("repeated_message", (answer("a"), IDLE, answer("b"), IDLE, answer("a")), id="two turns ago"),
        pytest.param("ignored_partner", (TELL_ORDER, answer("", *RIGHT_B)), id="B takes it in"),
        pytest.param(
            "ignored_partner", (TELL_ORDER, answer("", replace(2, "cross", "navy"), replace(3, "triangle", "navy"))), id="color wrong"
        ),
        pytest.param("ignored_partner", (answer("1 triangle, 2 crescent, 3 cross"), IDLE), id="what A said is false"),
        pytest.param("ignored_partner", (answer("Is position 2 the cross?"), IDLE), id="A only asked"),
        pytest.param("ignored_partner", (TELL_ORDER,), id="nobody has spoken to A"),
        pytest.param("ignored_partner", (IDLE, TELL_COLORS, IDLE, IDLE, IDLE), id="only the latest message counts"),
        pytest.param("overcorrection", (IDLE, answer("", replace(2, "crescent", "navy"))), id="wrong to wrong"),
        pytest.param("overcorrection", (IDLE, answer("", replace(1, "crescent", "brown"))), id="right to right"),
        pytest.param("wasted_write", (IDLE, answer("", replace(1, "blob", "brown"))), id="an invalid action"),
        pytest.param("correction_spiral", (answer("1", FLIP), IDLE, answer("2", FLOP)), id="two changes"),
        pytest.param("correction_spiral", (answer("1", FLIP, FLOP, replace(2, "cross", "maroon")),), id="right in the end"),
        pytest.param("correction_spiral", (answer("1", FLIP, FLIP, FLIP),), id="written but not changed"),
        pytest.param(
            "correction_spiral",
            (answer("1", FLIP, FLOP, FLIP), IDLE, answer("2"), IDLE, answer("3"), IDLE, answer("4"), IDLE, answer("5")),
            id="four turns ago",
        ),
        pytest.param("out_of_knowledge_claim", (IDLE, TELL_COLORS, answer("The cross is navy.")), id="false, but B named the color"),
        pytest.param("out_of_knowledge_claim", (answer("Is the cross navy?"),), id="A asks"),
        pytest.param("out_of_knowledge_claim", (TELL_ORDER, answer("Then position 1 is the crescent.")), id="B echoes A"),
        pytest.param(
            "out_of_knowledge_claim", (answer("left to right a cross"), answer("Position 1 is the cross.")), id="A may have said so"
        ),
        pytest.param("sufficient_message", (answer("1 crescent, 2 cross"),), id="one is missing"),
        pytest.param("wrong_statement", (TELL_ORDER,), id="as in the clues"),
        pytest.param(
            "wrong_statement", (answer("Position 1 is the cross. No, forget that!"),), id="taken back in words that are not understood"
        ),
        pytest.param(
            "overcorrection", (answer("Position 1 is the cross."), answer("", replace(1, "cross", "maroon"))), id="B does as A said"
        ),
        pytest.param("overcorrection", (IDLE, answer("The cross is navy."), answer("", FLIP)), id="A does as B said"),
        pytest.param(
            "overcorrection",
            (answer("Could you put your first two the other way round?"), answer("", replace(1, "triangle", "navy"))),
            id="A may have asked for it",
        ),
        pytest.param("ignored_partner", (answer("1 crescent, 2 cross. No, forget that!"), IDLE), id="what A said may be taken back"),
        pytest.param("wrong_statement", (answer("Please send the colors in this order: triangle, cross, crescent."),), id="a request"),
        pytest.param("wrong_statement", (answer("In your list the cross is at 1."),), id="of the partner's list"),
        pytest.param("wrong_statement", (answer("You have the cross at 1."),), id="of what the partner wrote"),
        pytest.param("wrong_statement", (answer("Positions 1 and 2 are crescent and cross."),), id="the ends of a range"),
        pytest.param("out_of_knowledge_claim", (IDLE, answer("1. crescent brown, 2. triangle navy, 3. cross maroon")), id="B's own list"),
        pytest.param("sufficient_message", (answer("1 cross, 2 crescent, 3 triangle"),), id="all, but false"),
        pytest.param("sufficient_message", (IDLE, TELL_ORDER), id="B has to give colors"),
    ],
)
def test_a_label_does_not_hold(label: str, texts: tuple[str, ...]) -> None:
    """For the last answer."""
    assert label not in labels(*texts)


# --- scripted players --------------------------------------------------------------------------------------------------------------------

PLANTED = {
    "sharing": (set(), {"sufficient_message"}),
    "piecewise": (set(), set()),
    "ignoring": ({"ignored_partner"}, {"sufficient_message"}),
    "overcorrecting": ({"overcorrection", "correction_spiral"}, {"sufficient_message"}),
    "misreading": ({"ignored_partner", "overcorrection"}, {"sufficient_message"}),
    "format_breaking": ({"no_json", "invalid_action", "ignored_partner"}, {"sufficient_message"}),
    "silent": ({"repeated_message"}, set()),
    "guessing": ({"out_of_knowledge_claim"}, {"sufficient_message"}),
    "rewriting": ({"wasted_write"}, {"sufficient_message"}),
    "presuming": ({"repeated_message"}, set()),
    "misinforming": ({"wrong_statement"}, set()),
}
"""Persona -> failures that it shows, and good labels."""


def labels_in_games(persona: str) -> set[str]:
    """All labels of a persona that plays A beside a sharing B, B beside a sharing A, and both, over some seeds."""
    found: set[str] = set()
    for seed in range(12):
        for own in (AGENTS[:1], AGENTS[1:], AGENTS):
            game = Game.drawn(size=4, seed=seed)
            names: dict[Agent, str] = {agent: persona if agent in own else "sharing" for agent in AGENTS}
            players = {agent: PersonaPlayer(names[agent], agent, game.puzzle.clues(agent), seed=seed) for agent in AGENTS}
            while (agent := game.next_agent) is not None:
                game.act(agent, players[agent].answer(game.observe(agent)))
                if agent in own:
                    found |= {label for label, _ in labels_of(done(game.answers), game.puzzle)}
    return found


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_persona_shows_its_failures_and_no_others(persona: str) -> None:
    """Said again in the same words is left out: whoever plays on with little to say may hit on the same wording."""
    failures, good = PLANTED[persona]
    chance = {"repeated_message"} - failures
    assert labels_in_games(persona) - chance == failures | good


def test_every_failure_is_planted_by_somebody() -> None:
    """No label is without a player that shows it."""
    assert set(FAILURES) == {label for failures, _ in PLANTED.values() for label in failures}
