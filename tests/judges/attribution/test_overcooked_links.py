"""Whose a step of Collab-Overcooked was: played games with one planted fault, of which is known when it costs how many steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from analytics.query import query
from judges.attribution.findings import Finding, Lost
from judges.evidence.transcript import ActionView, FailureView, Transcript, TurnView, UtteranceView, load
from judges.overcooked.attribution import attribute, own_turns
from schemas.store.store import Store
from tests.ingest.overcooked.overcooked_logs import PlayRequest, play
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open

EGG = "Chef asked for pickup(egg,ingredient_dispenser); place_obj_on_counter() in turn 1"
APPLE = "asked for pickup(apple,ingredient_dispenser); place_obj_on_counter() in turn 1 (wrong_parameter)"


def said(text: str) -> UtteranceView:
    return UtteranceView(1, "Chef", "public", ("Chef", "Assistant"), text, superseded=False)


UNREAD = "its answer could not be read"
CHEF, HELPER = "Chef", "Assistant"

PLANTED: dict[str, Sequence[tuple[int, str, str, float, str]]] = {
    "optimal": [],
    "silent": [],
    "slow": [
        *((turn, CHEF, "idle", 1.0, "waited; it could pickup(egg,counter)") for turn in (6, 7, 8)),
        *((turn, CHEF, "idle", 1.0, "waited; it could pickup(boiled_egg,pot0)") for turn in (17, 18)),
    ],
    "wrong-ingredient": [
        (1, CHEF, "wrong_instruction", 0.0, APPLE),
        (3, CHEF, "wrong_instruction", 1.0, APPLE),
        (4, CHEF, "wrong_instruction", 2.0, f"Assistant holds apple, which nothing takes: {APPLE}"),
        (5, CHEF, "wrong_instruction", 1.0, f"Assistant holds apple, which nothing takes: {APPLE}"),
    ],
    "irrelevant-request": [
        (1, CHEF, "wrong_instruction", 1.0, "asked for pickup(dish,counter); place_obj_on_counter() in turn 1 (irrelevant)"),
    ],
    "infeasible-request": [(1, CHEF, "wrong_instruction", 1.0, "asked for cook(pot0) in turn 1 (infeasible)")],
    "premature-request": [(1, CHEF, "wrong_instruction", 1.0, "asked for place_obj_on_counter() in turn 1 (premature)")],
    "bad-responder-param": [(1, HELPER, "misread", 0.0, f"{EGG}: wrong_parameter")],
    "bad-responder-skip": [(1, HELPER, "misread", 0.0, f"{EGG}: missing_step")],
    "bad-responder-foreign": [(1, HELPER, "rule_forgotten", 0.0, f"{EGG}: infeasible")],
    "bad-responder-refuse": [(1, HELPER, "not_heard", 1.0, f"{EGG}; it waited")],
    "bad-responder-short": [
        (1, HELPER, "misread", 0.0, f"{EGG}: missing_step"),
        *((turn, HELPER, "not_heard", 1.0, f"{EGG}; it waited") for turn in (4, 5, 6)),
    ],
    "bad-responder-other": [
        (1, HELPER, "misread", 0.0, f"{EGG}: wrong_parameter"),
        (3, HELPER, "misread", 1.0, f"{EGG}; it went to pickup(apple,ingredient_dispenser)"),
        (4, HELPER, "misread", 2.0, f"Assistant holds apple, which nothing takes: took apple in turn 3; {EGG}"),
        (5, HELPER, "misread", 1.0, f"Assistant holds apple, which nothing takes: took apple in turn 3; {EGG}"),
        *((turn, HELPER, "not_heard", 1.0, f"{EGG}; it waited") for turn in (6, 7, 8)),
    ],
    "format-breaker": [
        *((turn, CHEF, "format", 0.0, UNREAD) for turn in (1, 3, 6)),
        *((turn, HELPER, "format", 0.0, UNREAD) for turn in (9, 12)),
        (13, CHEF, "format", 0.0, UNREAD),
        (15, HELPER, "format", 0.0, UNREAD),
    ],
}
"""Policy -> turn, whose, link, steps lost, evidence. A boiled egg takes 16 steps, of which every needless wait is one more.
The egg cooks from step 13 and is ready at 16; the prompt states 3 timesteps, so that waiting in 16 is no fault."""

FOLLOWED = {
    "optimal": ["fully", "fully"],
    "wrong-ingredient": ["fully", "fully", "fully", "fully"],
    "bad-responder-refuse": ["no", "no", "fully", "fully"],
    "infeasible-request": ["no", "fully", "fully"],
}


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("overcooked_hands")
    play(PlayRequest(out=folder / "logs", orders=("boiled_egg",), policies=tuple(PLANTED)))
    yield from held_open(attributed(folder / "logs", folder))


@pytest.mark.parametrize("policy", PLANTED)
def test_a_planted_fault_costs_what_it_costs(egg: Store, policy: str) -> None:
    """What the agent would have kept is what it is charged with, and what is nobody's makes up the rest of the steps that were lost."""
    rows = query(
        egg,
        "select turn, agent, link, attributions.cost, evidence, regained from attributions inner join episodes using (episode_id) "
        "where model = $policy order by turn",
        {"policy": policy},
    ).rows()
    assert [row[:-1] for row in rows if row[1] is not None] == list(PLANTED[policy])
    assert all(row[-1] == (row[3] or None) for row in rows if row[1] is not None)
    assert {row[2] for row in rows if row[1] is None} <= {"not_seen"}
    ended, left = query(egg, "select count(*), arg_max(value_after, turn) from turn_costs where model = $policy", {"policy": policy}).row(0)
    assert sum(row[3] for row in rows) == ended + left - 16


@pytest.mark.parametrize("policy", FOLLOWED)
def test_what_became_of_each_request(egg: Store, policy: str) -> None:
    rows = query(
        egg,
        "select followed, requests.agent, actor from requests inner join episodes using (episode_id) where model = $policy "
        "order by turn, seq, place",
        {"policy": policy},
    ).rows()
    assert [followed for followed, *_ in rows] == FOLLOWED[policy]
    assert {(agent, actor) for _, agent, actor in rows} == {(CHEF, HELPER)}
    wrong = query(
        egg,
        'select "right" from requests inner join episodes using (episode_id) where model = $policy order by turn, seq, place',
        {"policy": policy},
    )["right"].to_list()
    assert wrong == [not (policy in ("wrong-ingredient", "infeasible-request") and place < len(wrong) - 2) for place in range(len(wrong))]


def logged(egg: Store, policy: str, turn: int) -> tuple[Transcript, Lost]:
    """A game, and what a turn of it cost."""
    row = query(
        egg,
        "select episode_id, value_before, value_after, cost from turn_costs where model = $policy and turn = $turn",
        {"policy": policy, "turn": turn},
    ).row(0)
    (game,) = load(egg, [row[0]])
    return game, Lost(*row[1:])


def with_turn(game: Transcript, turn: int, **facts: Any) -> Transcript:
    views: list[TurnView] = [replace(view, **facts) if view.turn == turn else view for view in game.turns]
    return replace(game, turns=tuple(views))


def charged(game: Transcript, turn: int, lost: Lost) -> list[tuple[str | None, str, float]]:
    found: Sequence[Finding] = attribute(game, {turn: lost}).findings
    return [(one.agent, one.link, one.cost) for one in found if one.turn == turn and one.cost > 0]


REFUSED = ActionView(CHEF, "cook", {"utensil": "pot0"}, accepted=False, error_code=None, error_text="nothing in it")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, (CHEF, "idle", 1.0)),
        ({"oracle": ()}, (None, "not_seen", 1.0)),  # nothing that brings the order on is known
        ({"actions": (REFUSED,)}, (CHEF, "rule_forgotten", 1.0)),
        ({"actions": (replace(REFUSED, agent=HELPER),)}, (CHEF, "idle", 1.0)),
        ({"failures": (FailureView(CHEF, "overcooked", "format", None),)}, (CHEF, "format", 1.0)),
        ({"failures": (FailureView(HELPER, "overcooked", "format", None),)}, (CHEF, "idle", 1.0)),
        ({"failures": (FailureView(CHEF, "overcooked", "premature", None),)}, (CHEF, "idle", 1.0)),
    ],
)
def test_a_needless_wait_of_the_chef(egg: Store, facts: dict[str, Any], expected: tuple[str | None, str, float]) -> None:
    """Turn 6 of the slow Chef, and the same with something else in it."""
    game, lost = logged(egg, "slow", 6)
    assert charged(with_turn(game, 6, **facts), 6, lost) == [expected]


def test_a_refused_try_says_why(egg: Store) -> None:
    game, lost = logged(egg, "slow", 6)
    told = {one.evidence for one in attribute(with_turn(game, 6, actions=(REFUSED,)), {6: lost}).findings if one.cost > 0}
    assert told == {"cook(pot0): nothing in it"}


@pytest.mark.parametrize(
    ("facts", "asked", "expected", "told"),
    [
        ({}, True, (HELPER, "not_heard", 1.0), "it waited"),
        ({"actions": (replace(REFUSED, agent=HELPER),)}, True, (HELPER, "not_heard", 1.0), "it tried cook(pot0), which was refused"),
        (
            {"utterances": (said("Hello!"),)},
            False,
            (CHEF, "not_said", 1.0),
            "could pickup(egg,ingredient_dispenser); the Chef did not ask for it in turn 1",
        ),
        ({"utterances": (said("Bring me an egg."),)}, False, (None, "not_seen", 1.0), ""),
        ({"utterances": (said("Once the moon is up, an egg perhaps?"),)}, False, (None, "not_understood", 1.0), "Once the moon is up"),
        ({"oracle": ()}, False, (None, "not_seen", 1.0), ""),
        ({"utterances": ()}, False, (None, "not_seen", 1.0), ""),  # the Chef had no say in the turn
    ],
)
def test_a_needless_wait_of_the_assistant(
    egg: Store,
    facts: dict[str, Any],
    asked: bool,  # noqa: FBT001 - a table
    expected: tuple[str | None, str, float],
    told: str,
) -> None:
    """Turn 1 of the Assistant that refuses, and the same without having been asked."""
    game, lost = logged(egg, "bad-responder-refuse", 1)
    game = with_turn(game if asked else replace(game, details={}), 1, **facts)
    assert charged(game, 1, lost) == [expected]
    assert told in next(one.evidence for one in attribute(game, {1: lost}).findings if one.cost > 0)


def test_turns_in_which_an_agent_could_ask(egg: Store) -> None:
    """Those in which it wrote a plan: the Assistant's answer of turn 1 is none of its own."""
    game, _ = logged(egg, "optimal", 1)
    assert [*own_turns(game, 0)] == [1, 2, 3, 4, 5, 6, 11, 12, 13]
    assert [*own_turns(game, 1)] == list(range(6, 17))


def test_an_order_of_no_kitchen_is_left_alone(egg: Store) -> None:
    game, lost = logged(egg, "slow", 6)
    found = attribute(replace(game, task_id="no such order", goal=None), {6: lost})
    assert (list(found.findings), list(found.follows)) == ([], [])
