"""What the engine judge decides about hand-worked turns of CRAFT, and that it keeps quiet where nothing is proved."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace as changed

from games.craft.engine.board import DIRECTORS, Board, ViewKind, all_views, views_json
from games.craft.engine.rules import Move
from judges.checks import Decision, find
from judges.craft.checks import CHECKS
from judges.evidence.transcript import ActionView, AgentView, OracleView, Transcript, TurnView, UtteranceView
from research.__main__ import main as research
from research.engine_score import Judged, score_decisions, total

# The target. D1's wall: left (0,0), middle (1,0), right (2,0). D2's: (0,0), (0,1), (0,2). D3's: (0,2), (1,2), (2,2).
# The large red block joins (0,1) to the hidden cell (1,1), so D2 sees it as small.
TARGET: dict[str, list[str]] = {
    "(0,0)": ["ys", "os", "gs"],
    "(1,0)": ["bl", "rs", "ys"],
    "(2,0)": ["bl", "gs", "os"],
    "(0,1)": ["gs", "rl", "bs"],
    "(1,1)": ["ys", "rl"],
    "(0,2)": ["os", "rs", "bs"],
    "(1,2)": ["gs", "yl", "rs"],
    "(2,2)": ["os", "yl", "bs"],
}
SPANS = {"0": [["(1,0)", "(2,0)"]], "1": [["(0,1)", "(1,1)"], ["(1,2)", "(2,2)"]]}

BLUE_DOMINO = Move("place", "bl", "(1,0)", 0, "(2,0)")
YELLOW_CORNER = Move("place", "ys", "(0,0)", 0)
ORANGE_ON_RIGHT = Move("place", "os", "(2,2)", 0)
LISTED = (YELLOW_CORNER, BLUE_DOMINO, ORANGE_ON_RIGHT)


@dataclass(frozen=True)
class Played:
    """One turn to be judged: what stood, what was thought and said, what was listed and tried."""

    board: Mapping[str, Sequence[str]]
    spans: Mapping[str, Sequence[Sequence[str]]]
    thoughts: Mapping[str, str]
    messages: Sequence[tuple[str, str]]
    listed: Sequence[Move] = LISTED
    move: Move | None = None
    accepted: bool = True
    question: str | None = None


def turn(**facts: Any) -> Played:
    empty: dict[str, Any] = {"board": {}, "spans": {}, "thoughts": {}, "messages": ()}
    return Played(**(empty | facts))


def game(*turns: Played, view: ViewKind = "spans") -> Transcript:
    target = Board.from_json(TARGET, SPANS)
    views = views_json(all_views(target, view))
    agents: dict[str, AgentView] = {name: AgentView(name, "director", None, views[name], view) for name in DIRECTORS}
    return Transcript(
        episode_id="craft-hand",
        benchmark="craft",
        task_id="hand",
        model="nobody",
        team={},
        goal={"stacks": target.structure_json(), "spans": SPANS},
        details={},
        agents=agents,
        turns=tuple(_turn(number, played) for number, played in enumerate(turns, start=1)),
    )


def _turn(number: int, played: Played) -> TurnView:
    said = [(agent, "private", text) for agent, text in played.thoughts.items()]
    said += [(agent, "public", text) for agent, text in played.messages]
    verb = "clarify" if played.question else played.move.action if played.move else None
    arguments: dict[str, Any] = {"question": played.question} if played.question else played.move.to_log() if played.move else {}
    accepted = None if played.question else played.accepted
    return TurnView(
        turn=number,
        state_before={"stacks": dict(played.board), "spans": dict(played.spans)},
        state_after={"stacks": {}, "spans": {}},
        utterances=tuple(
            UtteranceView(seq, agent, channel, DIRECTORS, text, superseded=False) for seq, (agent, channel, text) in enumerate(said, 1)
        ),
        actions=(ActionView("Builder", verb, arguments, accepted, None, None),) if verb else (),
        oracle=tuple(OracleView(move.action, move.to_log(), listed=True, verified=True) for move in played.listed),
        oracle_available=bool(played.listed),
        oracle_followed=None,
        goal_reached=None,
        error=None,
    )


def decide(question: str, played: Transcript, agent: str | None = None) -> Decision:
    return find(f"craft.{question}")(played, len(played.turns), agent)


RIGHT_CORNER = {"(0,0)": ["ys"]}
TALL_CORNER = {"(0,0)": ["ys", "rs"]}

THOUGHTS: list[tuple[str, str, str, Mapping[str, Sequence[str]], str | None]] = [
    # question, director, reasoning, board, answer
    ("SG1", "D1", "I need a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG1", "D1", "I need a small yellow block at (0,0), layer 0.", RIGHT_CORNER, "no"),
    ("SG1", "D1", "I need a small blue block at (0,0), layer 0.", {}, "no"),
    ("SG1", "D1", "Remove the small yellow block at (0,0), layer 0.", RIGHT_CORNER, "no"),
    ("SG1", "D1", "Remove the small red block at (0,0), layer 1.", TALL_CORNER, None),
    ("SG1", "D1", "I need a small green block at (0,0), layer 1.", RIGHT_CORNER, None),
    ("SG1", "D2", "Place a small red block at (0,1), layer 1.", {"(0,1)": ["gs"]}, "yes"),
    ("SG1", "D2", "Place a red block at (0,1), layer 1.", {"(0,1)": ["gs"]}, "yes"),
    ("SG1", "D1", "I need a large yellow block across (0,0) and (1,0), layer 0.", {}, None),
    ("SG1_any", "D1", "I need a yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG1_any", "D1", "I need a yellow block at (0,0), layer 0.", RIGHT_CORNER, "no"),
    ("SG2", "D1", "I need a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG2", "D1", "Remove the small yellow block at (0,0), layer 0.", RIGHT_CORNER, "no"),
    ("SG2", "D1", "The yellow block at (0,0), layer 0 is correct. Place a small orange block at (0,0), layer 1.", RIGHT_CORNER, "yes"),
    ("SG3", "D1", "Place a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG3", "D1", "Place a small yellow block at (0,0), layer 1.", {}, "no"),
    ("SG3", "D1", "Place a small orange block at (0,0), layer 1.", {}, "no"),
    ("SG3", "D1", "Place a small red block at (0,0), layer 0.", {}, None),
    ("SG3", "D1", "Remove the small red block at (0,0), layer 1.", TALL_CORNER, "na"),
    ("SG4", "D1", "Place a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG4", "D1", "Place a large blue block across (1,0) and (2,0), layer 0.", {}, "yes"),
    ("SG4", "D1", "Place a small red block at (0,0), layer 0.", {}, "no"),
    ("SG4", "D1", "Place a small blue block at (1,0), layer 0.", {}, None),
    ("SG5", "D1", "Place a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG5", "D1", "Place a small yellow block at (0,0), layer 2.", {}, "no"),
    ("SG5", "D1", "Remove the small red block at (0,0), layer 1.", TALL_CORNER, "yes"),
    ("SG5", "D1", "Remove the small yellow block at (0,0), layer 0.", TALL_CORNER, "no"),
    ("SG5", "D1", "Remove the small yellow block at (1,0), layer 0.", TALL_CORNER, "no"),
    ("SG5", "D1", "Place a small yellow block at (0,0).", {}, "yes"),
    ("SG6", "D1", "Place a large blue block across (1,0) and (2,0), layer 0.", {}, "yes"),
    ("SG6", "D1", "Place a small blue block at (1,0), layer 0.", {}, "no"),
    ("SG6", "D2", "Place a small red block at (0,1), layer 1.", {"(0,1)": ["gs"]}, "yes"),
    ("SG6", "D1", "Place a small red block at (0,0), layer 0.", {}, None),
    ("SG6", "D1", "Place a large yellow block across (0,0) and (1,0), layer 0.", {}, "no"),
    ("SG7", "D1", "My cells are (0,0), (1,0), (2,0). Place a small yellow block at (0,0), layer 0.", {}, "yes"),
    ("SG7", "D1", "Place a small orange block at (2,2), layer 0.", {}, "no"),
    ("SG7", "D1", "Something seems to be missing.", {}, None),
]


@pytest.mark.parametrize(("question", "director", "thought", "board", "answer"), THOUGHTS)
def test_reasoning_is_judged_against_board_target_and_candidates(
    question: str, director: str, thought: str, board: Mapping[str, Sequence[str]], answer: str | None
) -> None:
    """Each answer follows from the geometry by hand; None where section 12.2 leaves the case out."""
    played = game(turn(board=board, thoughts={director: thought}, messages=[(director, "Go on.")]))

    assert answer == decide(question, played, director).answer


MESSAGES: list[tuple[str, str, Sequence[tuple[str, str]], str | None]] = [
    # question, judged director, messages of the turn, answer; the board has a small yellow block at (0,0)
    (
        "MM1",
        "D1",
        [
            ("D1", "Put a small red block in the middle of my bottom layer."),
            ("D3", "Put a small orange block at the right end of my bottom layer."),
        ],
        "yes",
    ),
    (
        "MM1",
        "D2",
        [("D1", "Put a small orange block on my left, middle layer."), ("D2", "Put a small orange block on my left, middle layer.")],
        "no",
    ),
    ("MM1", "D2", [("D2", "No message provided")], "no"),
    ("MM1", "D2", [("D2", "Sounds great, thanks!")], "no"),
    ("MM5", "D1", [("D1", "Put a small red block in the middle of my bottom layer.")], "yes"),
    ("MM5", "D1", [("D1", "Put a small orange block on my left, middle layer.")], "no"),
    ("MM5", "D2", [("D2", "Put a large red block across the left and middle of my middle layer.")], "unclear"),
    ("MM5", "D2", [("D2", "Put a small red block somewhere.")], None),
    ("MM6", "D1", [("D1", "Put a small red block in the middle of my bottom layer.")], "yes"),
    ("MM6", "D1", [("D1", "Put a small red block on my wall.")], "no"),
    ("MM6", "D1", [("D1", "Put a small block in the middle of my bottom layer.")], "no"),
    ("MM6", "D1", [("D1", "Put a red block in the middle of my bottom layer.")], "no"),
    ("MM6", "D1", [("D1", "Put a large red block in the middle of my bottom layer.")], "no"),
    ("MM6", "D1", [("D1", "Put a large blue block across the middle and right of my bottom layer.")], "yes"),
    ("MM6", "D1", [("D1", "Take away the top block in my bottom left corner.")], None),
    ("MM6", "D1", [("D1", "Remove the small red block on the left of my middle layer.")], None),
    (
        "MM7",
        "D1",
        [("D1", "Put a small orange block on my left, middle layer."), ("D3", "Put a small orange block on my right, bottom layer.")],
        "na",
    ),
    (
        "MM7",
        "D1",
        [("D1", "Put a small orange block on my left, middle layer."), ("D2", "Put a small blue block on my left, middle layer.")],
        "no",
    ),
    (
        "MM7",
        "D2",
        [
            ("D1", "Put a small orange block on my left, middle layer."),
            ("D2", "D1 and I disagree here: put a small blue block on my left, middle layer."),
        ],
        "yes",
    ),
    ("MM8", "D1", [("D1", "Put a small red block in the middle of my bottom layer, which nobody else can see.")], "yes"),
    ("MM8", "D1", [("D1", "Put a small orange block on my left, middle layer; D2 can see that corner as well.")], "yes"),
    ("MM8", "D1", [("D1", "Put a small red block in the middle of the bottom layer.")], "no"),
    ("MM8", "D1", [("D1", "Put a small red block in the middle of my bottom layer.")], "unclear"),
    ("MM8_said", "D1", [("D1", "Put a small red block in the middle of my bottom layer.")], None),
    ("MM8_said", "D1", [("D1", "Put a small red block in the middle of the bottom layer.")], "no"),
    ("MM3", "D1", [("D1", "Put a small red block in the middle of my bottom layer.")], None),
]


@pytest.mark.parametrize(("question", "director", "messages", "answer"), MESSAGES)
def test_message_is_judged_against_the_others(
    question: str, director: str, messages: Sequence[tuple[str, str]], answer: str | None
) -> None:
    """Each answer follows from who sees which cell and who said what."""
    played = game(turn(board=RIGHT_CORNER, messages=messages))

    assert answer == decide(question, played, director).answer


CARRIED: list[tuple[str, str | None]] = [
    ("Put a large blue block across the middle and right of my bottom layer.", "yes"),
    ("Put a large blue block in the middle of my bottom layer.", "no"),
    ("Put a large blue block on my wall.", "no"),
    ("Put a large red block across the middle and right of my bottom layer.", "no"),
    ("Take the large blue block off the middle and right of my bottom layer.", "no"),
    ("Put a blue block across the middle and right of my bottom layer.", None),
    ("Put a large blue block across the middle and right of my wall.", None),
]


@pytest.mark.parametrize(("message", "answer"), CARRIED)
def test_message_must_carry_over_what_the_reasoning_found(message: str, answer: str | None) -> None:
    """A lost place or a contradiction is a no; a lost colour, size or layer is left open."""
    thought = "Place a large blue block across (1,0) and (2,0), layer 0."

    assert answer == decide("MM4", game(turn(thoughts={"D1": thought}, messages=[("D1", message)])), "D1").answer


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Put a small yellow block in my left corner, bottom layer.", "yes"),
        ("Put a large yellow block across the left and middle of my bottom layer.", None),
        ("Put a yellow block in my left corner, bottom layer.", "yes"),
    ],
)
def test_message_may_add_the_size_that_the_view_shows(message: str, answer: str | None) -> None:
    """The reasoning needs no size where it has colour, cell and layer; another size than the view's is left open."""
    thought = "I need a yellow block at (0,0), layer 0."
    assert answer == decide("MM4", game(turn(thoughts={"D1": thought}, messages=[("D1", message)])), "D1").answer


def test_of_two_reasonings_of_a_turn_one_that_names_a_missing_block_is_enough() -> None:
    played = game(turn(thoughts={"D1": "I need a small yellow block at (0,0), layer 0."}, messages=[("D1", "Go on.")]))
    said = played.turns[0].utterances
    again = [replace(said[0], seq=3, text="Let us see what the others want."), replace(said[1], seq=4)]
    twice = replace(played, turns=(replace(played.turns[0], utterances=(*said, *again)),))
    assert decide("SG1_any", twice, "D1").answer == "yes"


@pytest.mark.parametrize("message", ["", "No message provided"])
@pytest.mark.parametrize(("thought", "answer"), [("Place a small red block at (1,0).", "no"), ("No thinking provided", None), ("", None)])
def test_an_empty_message_loses_only_what_had_been_thought(message: str, thought: str, answer: str | None) -> None:
    """A call that brought nothing at all says nothing of how reasoning is carried over."""
    assert answer == decide("MM4", game(turn(thoughts={"D1": thought}, messages=[("D1", message)])), "D1").answer


YELLOW_DOMINO = {"(0,0)": ["yl"], "(1,0)": ["yl"]}
ASK = [("D1", "Put a small yellow block on the left of my bottom layer.")]
SOMEWHERE = [("D1", "Put a small yellow block on my wall.")]


@pytest.mark.parametrize(
    ("turns", "answer"),
    [
        ([turn(messages=ASK)], "yes"),
        ([turn(messages=ASK, move=YELLOW_CORNER), turn(messages=ASK, board=RIGHT_CORNER)], "no"),
        ([turn(messages=ASK, move=YELLOW_CORNER, accepted=False), turn(messages=ASK)], "yes"),
        ([turn(messages=[("D3", "Put a small orange block on the right of my bottom layer.")]), turn(messages=ASK)], "yes"),
        ([turn(messages=ASK, move=Move("place", "yl", "(0,0)", 0, "(1,0)")), turn(messages=ASK, board=YELLOW_DOMINO)], "yes"),
        ([turn(messages=ASK, move=YELLOW_CORNER), turn(messages=SOMEWHERE, board=RIGHT_CORNER)], None),
        ([turn(messages=ASK, move=changed(YELLOW_CORNER, block="rs")), turn(messages=SOMEWHERE)], "yes"),
    ],
    ids=[
        *("never asked", "done and standing", "refused before", "something else asked before", "done in the other size"),
        *("perhaps done somewhere", "done nowhere"),
    ],
)
def test_asking_again_is_a_fault_only_if_it_was_done(turns: Sequence[Played], answer: str | None) -> None:
    """MM2 looks at the whole game before: a request that failed may be repeated."""
    assert answer == decide("MM2", game(*turns), "D1").answer


CLEAR = ("D1", "Put a small yellow block on the left of my bottom layer.")
VAGUE = ("D1", "Put a small yellow block on my wall.")
HALF = ("D1", "Put a large blue block in the right cell of my bottom layer.")
FOREIGN = ("D3", "Put a small green block on the left of my bottom layer.")

GROUPS: list[tuple[str, Played, str | None]] = [
    ("PS1", turn(messages=[CLEAR, VAGUE]), "yes"),
    ("PS1", turn(messages=[VAGUE]), "no"),
    ("PS1", turn(messages=[("D1", "Add something to the middle somewhere in that area.")]), None),
    ("PS1", turn(messages=[("D1", "Remove the red block.")], board=TALL_CORNER), "no"),
    ("PS2", turn(messages=[CLEAR]), "yes"),
    ("PS2", turn(messages=[("D3", "Put a small red block on the left of my bottom layer.")]), "no"),
    ("PS2", turn(messages=[("D2", "Put a small yellow block on the right of my bottom layer.")]), None),
    ("PS2", turn(messages=[CLEAR], listed=()), "na"),
    ("PS3", turn(messages=[CLEAR]), "yes"),
    ("PS3", turn(messages=[CLEAR, ("D2", "Put a small red block on the left of my bottom layer.")]), None),
    ("PS3", turn(messages=[FOREIGN]), "no"),
    ("PS3", turn(messages=[VAGUE]), None),
    ("PS4", turn(messages=[CLEAR, FOREIGN]), "yes"),
    ("PS4", turn(messages=[VAGUE]), "no"),
    ("PS4", turn(messages=[CLEAR, VAGUE]), None),
    ("PS5", turn(messages=[CLEAR], move=YELLOW_CORNER), "yes"),
    ("PS5", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, layer=1), accepted=False), "yes"),
    ("PS5", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, position="(2,0)")), "no"),
    ("PS5", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, block="rs")), "no"),
    ("PS5", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, block="small_yellow"), accepted=False), None),
    ("PS5", turn(messages=[VAGUE], move=YELLOW_CORNER), None),
    ("PS5", turn(messages=[CLEAR], move=Move("place", "yl", "(0,0)", 0, "(1,0)")), "no"),
    ("PS5", turn(messages=[HALF], move=BLUE_DOMINO), "yes"),
    ("PS5", turn(messages=[CLEAR], question="Which one?"), "na"),
    ("PS6", turn(messages=[CLEAR], move=YELLOW_CORNER), "na"),
    ("PS6", turn(messages=[CLEAR], move=YELLOW_CORNER, listed=()), "na"),
    ("PS6", turn(messages=[CLEAR], question="Which one?"), "no"),
    ("PS6", turn(messages=[CLEAR], question="Which one?", listed=()), "na"),
    ("PS6", turn(messages=[VAGUE], move=changed(YELLOW_CORNER, position="(1,0)")), "yes"),
    ("PS6", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, layer=2), accepted=False), "no"),
    ("PS6", turn(messages=[CLEAR], move=changed(YELLOW_CORNER, position="(1,0)")), None),
]


@pytest.mark.parametrize(("question", "played", "answer"), GROUPS)
def test_group_is_judged_against_candidates_and_the_move(question: str, played: Played, answer: str | None) -> None:
    """Each answer follows from the candidates, the move and what all messages say; a block worked out from the board is no named place."""
    assert answer == decide(question, game(played)).answer


def test_wish_to_have_a_block_gone_is_never_a_placement() -> None:
    """A text "I want it removed" has the words of a wish for a block; taking it for one would turn the answer round."""
    played = game(turn(thoughts={"D1": "I want the small yellow block at (0,0), layer 0, removed."}, messages=[CLEAR]))

    assert "yes" not in {decide(question, played, "D1").answer for question in ("SG1", "SG4", "SG5")}


def test_place_on_another_wall_is_never_taken_for_an_own_one() -> None:
    """The right of D3's wall is (2,2), and never the cell that the speaker has at her own right."""
    played = game(turn(messages=[("D1", "Put a small orange block in the right-hand position of D3's bottom layer.")]))

    assert decide("MM5", played, "D1").answer in (None, "no")


def test_domino_with_another_partner_is_not_right() -> None:
    """The same code at the same cell and layer is no match where the other half lies elsewhere."""
    board = {"(1,0)": ["bl"], "(0,0)": ["bl"]}
    spans = {"0": [["(1,0)", "(0,0)"]]}
    thoughts = {"D1": "Remove the large blue block at (1,0) and (0,0), layer 0."}

    assert decide("SG2", game(turn(board=board, spans=spans, thoughts=thoughts, messages=[CLEAR])), "D1").answer is None


def test_target_is_the_one_that_was_really_shown() -> None:
    """In a mirrored view D2 reads the blocks of (0,2) on her left, so her request for them there is no misreading."""
    played = turn(thoughts={"D2": "Place a small red block at the left of my middle layer."}, messages=[("D2", "Go on.")])

    assert [decide("SG1", game(played, view=kind), "D2").answer for kind in ("spans", "spans_mirrored")] == ["no", "yes"]


def test_size_is_the_one_that_was_really_shown() -> None:
    """Where views had no large blocks, a small block is read rightly though the target has a large one."""
    played = turn(thoughts={"D1": "Place a small blue block at (1,0), layer 0."}, messages=[("D1", "Go on.")])

    assert [decide("SG6", game(played, view=kind), "D1").answer for kind in ("spans", "flat")] == ["no", "yes"]


@pytest.mark.parametrize("question", [name.removeprefix("craft.") for name in CHECKS if name.startswith("craft.SG")])
@pytest.mark.parametrize("thought", ["No thinking provided", "Error in generation: timed out", ""])
def test_without_reasoning_nothing_is_decided_about_it(question: str, thought: str) -> None:
    """A missing reasoning is no bad reasoning."""
    played = game(turn(thoughts={"D1": thought}, messages=[CLEAR]))

    assert decide(question, played, "D1").answer is None


def test_without_a_known_view_nothing_is_decided_about_the_reasoning() -> None:
    """No target view in the store: undecided, not a guess and not an error."""
    played = game(turn(thoughts={"D1": "I need a small yellow block at (0,0), layer 0."}, messages=[CLEAR]))
    blind = replace(played, agents={name: replace(agent, private_view=None) for name, agent in played.agents.items()})

    assert decide("SG1", blind, "D1").answer is None


def test_every_decision_says_why() -> None:
    """The reason quotes the words it rests on, with cell and layer as they were understood."""
    reason = decide("SG5", game(turn(thoughts={"D1": "Place a small yellow block at (0,0), layer 2."}, messages=[CLEAR])), "D1").reason

    assert all(part in reason for part in ("small yellow block at (0,0), layer 2", "(0,0)", "Wrong layer"))


def test_there_is_a_check_for_every_question() -> None:
    """21 questions, a check each; one that asks for something else since version 2 has one for each version."""
    questions = [f"SG{n}" for n in range(1, 8)] + [f"MM{n}" for n in range(1, 9)] + [f"PS{n}" for n in range(1, 7)]

    assert {
        f"craft.{question}" for question in [*questions, "SG1_any", "SG3_next", "SG7_named", "MM5_places", "MM7_heard", "MM8_said"]
    } == set(CHECKS)


def test_measure_counts_what_may_count() -> None:
    """N/A labels count for PS6 alone; precision is over decided rows, coverage over labelled ones."""
    rows = [
        Judged("SG1", "yes", "yes"),
        Judged("SG1", "no", "yes"),
        Judged("SG1", "no", None),
        Judged("SG1", "na", "yes"),
        Judged("PS6", "na", "na"),
        Judged("PS6", "na", None),
    ]
    scores = score_decisions(rows)

    assert (scores["SG1"].precision, scores["SG1"].coverage) == (0.5, 2 / 3)
    assert (scores["PS6"].precision, scores["PS6"].coverage) == (1.0, 0.5)
    assert (total(scores).labelled, total(scores).decided, total(scores).right) == (5, 3, 2)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("persona", "every"),
    [("clear", 5), *(pytest.param(name, 2, marks=pytest.mark.long) for name in ("clear", "over-remover", "redundant", "vague"))],
)
def test_decisions_agree_with_planted_truth(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], persona: str, every: int
) -> None:
    """On published labels of some targets: precision at least 0.97 at a coverage of at least 0.70, no question under 0.90."""
    folder = shared / "data" / "craft" / "engine_games" / f"{persona}_scripted-builder"
    games = sorted(folder.glob("craft_structure_*.json"))[::every]
    for game in games:
        shutil.copy(game, tmp_path)  # a link out of a folder is not read
    labels = pl.read_csv(folder / "labels.csv", infer_schema=False)
    # these labels are of version 1, where a mention of a right block spoils SG2: what asks for one or against one still does
    mention = (pl.col("question") == "SG2") & (pl.col("truth") == "No")
    labels = labels.filter(~mention | pl.col("planted_defect").str.contains("redundant_already_done|false_removal_correct_block"))
    chosen = {"_".join(game.stem.split("_")[1:3]) for game in games}
    labels.filter(pl.col("structure_id").is_in(chosen)).write_csv(tmp_path / "labels.csv")
    research(["engine", "--games", str(tmp_path)])
    printed = capsys.readouterr().out
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith(("| SG", "| MM", "| PS", "| all"))]
    measured = {row[0]: (float(row[-2]), row[-1]) for row in rows}

    coverage, precision = measured["all"]
    assert coverage >= 0.70
    assert float(precision) >= 0.97
    assert [question for question, (_, share) in measured.items() if share and float(share) < 0.90] == []
