"""Rubrics and engine checks of LLM-Coordination on planted faults and keyed answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analytics.query import query
from games.coordination.courses.agent import CoordinationGame
from games.coordination.players import Player
from ingest.files.run import ingest_paths
from judges.coordination.checks import CHECKS, capture_way, kitchen_way
from judges.coordination.situation import claims
from judges.evidence.transcript import ActionView, Transcript, TurnView, load
from judges.rubric_files.load import check, find, names
from schemas.store.store import Store
from tests.ingest.coordination.coordination_logs import PlayRequest, play
from tests.masters import published_store

RUBRICS = ("coordination_environment", "coordination_theory_of_mind", "coordination_joint_planning")


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_have_no_mistakes_and_name_checks_that_exist(name: str) -> None:
    """Every question has an engine check of its own name."""
    assert check(names()[name]) == []
    assert {question.engine for question in find(name).questions.values()} <= set(CHECKS)


def _games(folder: Path, game: CoordinationGame, policy: str) -> tuple[Store, list[Transcript]]:
    play(PlayRequest(game=game, out=folder / "logs", policies=(policy,), seeds=(1, 2, 3), ticks=80))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store, list(load(store, query(store, "select episode_id from episodes")["episode_id"].to_list()))


@pytest.mark.parametrize(
    ("game", "policy", "question"),
    [
        ("collab_capture", "confused", "EC1"),
        pytest.param("collab_escape", "confused", "EC1", marks=pytest.mark.long),
        pytest.param("overcooked", "contrary", "EC1", marks=pytest.mark.long),
        ("hanabi", "sloppy", "EC1"),
        ("hanabi", "sloppy", "TOM1"),
        ("hanabi", "bomber", "JP1"),
        pytest.param("overcooked", "waiter", "JP3", marks=pytest.mark.long),
    ],
)
def test_planted_faults_are_found(game: CoordinationGame, policy: str, question: str, tmp_path: Path) -> None:
    """Whatever a script did wrong on purpose, its check does not call right; where it decides, it says no."""
    if game == "hanabi":
        pytest.importorskip("pyspiel")
    store, games = _games(tmp_path, game, policy)
    by_id = {found.episode_id: found for found in games}
    labels = query(store, f"select episode_id, turn, agent from labels where question = '{question}'").rows()
    assert labels
    answers = [CHECKS[f"coordination.{question}"](by_id[episode], turn, agent).answer for episode, turn, agent in labels]
    assert "no" in answers
    assert "yes" not in answers


@pytest.mark.sampled(1)
@pytest.mark.parametrize("game", ["collab_capture", "collab_escape", "hanabi", "overcooked"])
def test_checks_answer_every_turn_of_every_game(game: CoordinationGame, tmp_path: Path) -> None:
    """No state of a game is beyond them, and each answer is one of the rubrics'."""
    if game == "hanabi":
        pytest.importorskip("pyspiel")
    _, games = _games(tmp_path, game, "random")
    answers = {
        run(found, turn.turn, agent).answer for found in games for turn in found.turns for agent in found.agents for run in CHECKS.values()
    }
    assert answers <= {"yes", "no", "na", None}
    assert {"yes", "no"} <= answers


def test_honest_players_say_nothing_false(tmp_path: Path) -> None:
    """The statements of a player that plants nothing are never found false."""
    _, games = _games(tmp_path, "collab_capture", "bfs")
    answers = {
        CHECKS["coordination.EC1"](found, turn.turn, agent).answer for found in games for turn in found.turns for agent in found.agents
    }
    assert answers == {"yes"}


def test_what_recorded_players_say_is_false_only_where_it_was_planted(shared: Path, tmp_path: Path) -> None:
    """Over the recorded games of all four kinds, in several wordings: no honest turn is called false, and no planted one goes undecided."""
    store = published_store(shared, tmp_path, "coordination/hanabi", "coordination/overcooked", "coordination/collab_games")
    sql = "select episode_id, turn, agent from labels where question = 'EC1'"
    planted = set(query(store, sql).rows())
    answers: dict[bool, list[str | None]] = {False: [], True: []}
    for game in load(
        store, query(store, "select episode_id from episodes where level in ('hanabi', 'collab_escape')")["episode_id"].to_list()
    ):
        for turn, agent in ((turn.turn, agent) for turn in game.turns for agent in game.agents):
            answers[(game.episode_id, turn, agent) in planted].append(CHECKS["coordination.EC1"](game, turn, agent).answer)
    assert "no" not in answers[False]
    assert answers[False].count("yes") > 200
    assert answers[True].count("no") >= 4
    assert None not in answers[True]


@pytest.mark.long
def test_who_throws_away_what_it_can_know_to_be_the_last_is_not_safe(shared: Path, tmp_path: Path) -> None:
    """Hints and what lies open leave only cards of which no other copy is left; a card of which less is known stays undecided."""
    store = published_store(shared, tmp_path, "coordination/hanabi")
    seeds = dict(query(store, "select episode_id, seed from episodes where seed is not null").rows())
    thrown = [
        (seeds[game.episode_id], turn.turn, CHECKS["coordination.JP1"](game, turn.turn, action.agent).answer)
        for game in load(store, [*seeds])
        for turn in game.turns
        for action in turn.actions
        if action.verb == "discard"
    ]
    assert {one[:2] for one in thrown if one[2] == "no"} == {(321, 60), (628, 46), (628, 53)}
    assert {one[2] for one in thrown} == {"yes", "no", None}


def _turn(state: dict[str, Any], *actions: ActionView) -> TurnView:
    return TurnView(1, state, state, (), actions, (), oracle_available=None, oracle_followed=None, error=None, goal_reached=None)


_TABLE = {
    "player": "Bob",
    "hands": {"Bob": ["R1", "R5", "G2"], "Alice": ["B1", "W3", "W4"]},
    "knowledge": {
        "Bob": [
            {"colors": "R", "ranks": "1", "color_hinted": True, "rank_hinted": True},
            {"colors": "RY", "ranks": "5", "color_hinted": False, "rank_hinted": True},
            {"colors": "RYGWB", "ranks": "12345", "color_hinted": False, "rank_hinted": False},
        ],
        "Alice": [{"colors": "RYGWB", "ranks": "1", "color_hinted": False, "rank_hinted": True}] * 3,
    },
    "fireworks": {"R": 0, "Y": 1, "G": 0, "W": 2, "B": 0},
    "discard_pile": ["Y5"],
    "information_tokens": 5,
    "life_tokens": 2,
    "deck_size": 30,
}
_KITCHEN = {
    "layout": "cramped_room",
    "cooks": {
        "Alice": {"position": [1, 1], "facing": "north", "held": "onion"},
        "Bob": {"position": [3, 1], "facing": "north", "held": None},
    },
    "objects": [{"position": [2, 0], "item": "soup 2/0"}],
    "score": 0,
}
_ROOMS = {"rooms": {"Alice": 1, "Bob": 6, "Thief": 3}, "doors": {"1-2": True, "3-4": False}}
_HUNT = {
    "rooms": {"Alice": 1, "Bob": 8, "Adversary": 7},
    "generators": {"1": 1, "6": 2},
    "exit_gate": False,
    "adversary_target": "Bob",
}


@pytest.mark.parametrize(
    ("game", "state", "true", "false", "unread"),
    [
        (
            "hanabi",
            _TABLE,
            (
                "Alice's card 1 is White 3, which is next on the White stack",
                "my card 0 must be Red 1",
                "My card 1 can only be Red 5, since the yellow one is discarded",
                "We have 5 reveal tokens",
                "the Red stack is empty",
                "White stack is at 2",
                "Alice's card 0 is Blue 1 and Alice does not know its color yet",
            ),
            (
                "Alice's card 2 is White 3",
                "Alice's card 2 is White 4, which is next on the White stack",
                "my card 2 can only be Red 1",
                "there are 3 lives",
                "White stack is at 3",
                "Alice's card 0 is Blue 1 and Alice does not know its rank yet",
            ),
            (
                "If Alice's card 2 is Red 1, she plays it",
                "Bob's card 0 is Red 1",
                "Maybe Alice's card 2 is Red 1",
                "Is Alice's card 2 is Red 1?",
            ),
        ),
        (
            "overcooked",
            _KITCHEN,
            (
                "I am holding an onion",
                "Bob holds nothing",
                "c0 has 2 onions",
                "c0 still needs onions",
                "c0 needs 1 more onion",
                "No soup is ready yet",
            ),
            (
                "I hold a plate",
                "c0 is full",
                "c0 contains 3 out of 3 onions",
                "All cookers are full",
                "soup in c0 is cooked",
                "Bob is holding a plate",
            ),
            ("c0 will be full", "c7 is full", "When c0 is full I fetch a plate", "Action: c0 is full"),
        ),
        (
            "collab_capture",
            _ROOMS,
            (
                "The thief is in Room 3, and Bob is in Room 6",
                "I am in room 1",
                "the thief is not in room 4",
                "Door between room 3 and room 4 is closed",
                "door 1-2 is open",
            ),
            (
                "the thief is in room 4",
                "Bob is in room 3",
                "door between room 1 and 2 is closed",
                "There is no open way from room 1 to the thief in room 3",
            ),
            ("If the thief is in room 4, I press", "the thief will be in room 4", "I press so that door 3-4 is open"),
        ),
        (
            "collab_escape",
            _HUNT,
            (
                "The killer is in room 7",
                "the killer is heading to room 8",
                "the generator in room 1 needs one more fix",
                "generator in room 6 is fixed",
                "the exit gate is closed",
                "room 6 is next to the killer",
            ),
            (
                "the killer is in room 8",
                "the killer is heading to room 3",
                "The generator in room 6 still needs work",
                "generator in room 1 has been fixed",
                "The exit gate is open",
                "I am in room 2",
            ),
            ("Once the exit gate is open we leave", "Bob probably is in room 3", "generator in room 4 is fixed"),
        ),
    ],
)
def test_statements_are_read_and_held_against_the_state(
    game: str, state: dict[str, Any], true: tuple[str, ...], false: tuple[str, ...], unread: tuple[str, ...]
) -> None:
    """True ones, false ones, and plans, guesses and conditions that state nothing."""
    player: Player = "Bob" if game == "hanabi" else "Alice"
    turn = _turn(state)
    for text in true:
        assert {claim.is_true for claim in claims(game, turn, player, text)} == {True}, text
    for text in false:
        assert False in {claim.is_true for claim in claims(game, turn, player, text)}, text
    for text in unread:
        assert claims(game, turn, player, text) == [], text


def _kitchen_turn(layout: str, alice: tuple[tuple[int, int], str, str], bob: tuple[tuple[int, int], str, str]) -> TurnView:
    """Places, low-level actions and macro actions of both."""
    cooks = {name: {"position": list(at), "facing": "north", "held": None} for name, (at, _, _) in (("Alice", alice), ("Bob", bob))}
    actions = tuple(
        ActionView(name, verb, {"macro": macro, "asked": True}, accepted=True, error_code=None, error_text=None)
        for name, (_, verb, macro) in (("Alice", alice), ("Bob", bob))
    )
    state = {"layout": layout, "cooks": cooks, "objects": [], "score": 0}
    return _turn(state, *actions)


@pytest.mark.parametrize(
    ("alice", "bob", "answer"),
    [
        # in the cramped room the cooker c0 is reached from (2,1) alone
        (((1, 1), "east", "place onion in c0."), ((3, 1), "west", "place onion in c0."), "no"),  # both go for (2,1)
        (((2, 1), "east", "pick up onion from o1."), ((3, 1), "west", "place onion in c0."), "no"),  # they would change places
        (((1, 1), "east", "place onion in c0."), ((3, 1), "stay", "load soup on plate from c0."), "no"),  # Bob is a step from it
        (((1, 2), "north", "pick up onion from o0."), ((3, 1), "west", "place onion in c0."), "yes"),
        (((2, 1), "west", "pick up onion from o0."), ((3, 1), "stay", "place onion in c0."), "yes"),  # makes room
        (((1, 1), "east", "place onion in c0."), ((3, 2), "stay", "wait."), None),  # nobody knows where Bob wants to go
        (((1, 1), "stay", "wait."), ((3, 1), "west", "place onion in c0."), "na"),
    ],
)
def test_a_cook_in_the_partners_way(
    alice: tuple[tuple[int, int], str, str], bob: tuple[tuple[int, int], str, str], answer: str | None
) -> None:
    """No where nobody gets on or the partner is cut off a step before its place; undecided where its aim is not known."""
    assert kitchen_way(_kitchen_turn("cramped_room", alice, bob), "Alice").answer == answer


@pytest.mark.parametrize(
    ("door", "thief", "answer"),
    [(True, 2, "no"), (False, 2, "yes"), (True, 6, "yes")],
)
def test_a_door_in_the_partners_way(door: bool, thief: int, answer: str) -> None:  # noqa: FBT001  # a table
    """Bob presses in room 9 and so shuts the door between Alice in room 1 and the thief in room 2, or opens it, or it does not matter."""
    state = {"rooms": {"Alice": 1, "Bob": 9, "Thief": thief}, "doors": {"1-2": door, "3-4": False}}
    press = ActionView("Bob", "press", {"room": 9}, accepted=True, error_code=None, error_text=None)
    assert capture_way(_turn(state, press), "Bob").answer == answer


def test_answers_to_questions_follow_the_corrected_key(shared: Path, tmp_path: Path) -> None:
    """A bare letter that the published scoring misreads is right; refusals are wrong; other types are not applicable."""
    store = Store(tmp_path / "s.duckdb")
    folder = shared / "data" / "coordination" / "coordqa" / "native_logs"
    ingest_paths([folder / "all_openai_bare_letter0.json", folder / "all_openai_refusal0.json"], store, workers=1)
    sql = "select episode_id from episodes where task_id in ('JP 0', 'TOM 0') order by model, task_id"
    bare_jp, bare_tom, refused_jp, _ = load(store, query(store, sql)["episode_id"].to_list())
    assert CHECKS["coordination.JP4"](bare_jp, 1, "respondent").answer == "yes"
    assert CHECKS["coordination.JP4"](refused_jp, 1, "respondent").answer == "no"
    assert CHECKS["coordination.JP4"](bare_tom, 1, "respondent").answer == "na"
    assert CHECKS["coordination.TOM4"](bare_tom, 1, "respondent").answer == "yes"
