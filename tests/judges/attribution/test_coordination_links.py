"""Whose a turn of LLM-Coordination was: rooms by trying every joint choice, Hanabi by hand-worked tables."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import pytest

from games.coordination import capture, escape
from games.coordination.hanabi import COLORS, RANKS
from games.coordination.players import PLAYERS, Player
from games.coordination.value import choice_chance, turns_left
from judges.attribution.findings import Attributed, Lost
from judges.coordination.attribution import attribute
from judges.coordination.checks import CHECKS
from judges.evidence.transcript import ActionView, Transcript, TurnView, UtteranceView
from tests.games.coordination.test_coordination_value import capture_states, escape_states

Both = Mapping[Player, Any]


def turn(number: int, state: Mapping[str, Any], *actions: ActionView, said: str | None = None) -> TurnView:
    utterances = () if said is None else (UtteranceView(3, said, "public", PLAYERS, "Look.", superseded=False),)
    return TurnView(number, dict(state), {}, utterances, actions, (), None, None, None, None)


def game(name: str, *turns: TurnView) -> Transcript:
    return Transcript("hand", "coordination", "hand", "nobody", {}, None, {"game": name}, {}, turns)


def action(agent: str, verb: str, **arguments: Any) -> ActionView:
    return ActionView(agent, verb, arguments, accepted=True, error_code=None, error_text=None)


# -- rooms ------------------------------------------------------------------------------------------------


class Alternative(NamedTuple):
    """What an agent would have kept by itself, and with what."""

    agent: Player
    gain: float
    best: Sequence[str]
    """Its best choices."""


def alternatives(options: Mapping[Player, Sequence[Any]], done: Both, worth: Callable[[Both], float]) -> tuple[list[Alternative], bool]:
    """Who was no part of a best joint choice and would have kept something, the other one doing what it did; and whether both were."""
    joint = [dict(zip(PLAYERS, both, strict=True)) for both in product(*(options[player] for player in PLAYERS))]
    best = max(map(worth, joint))
    parts = {player: {both[player] for both in joint if worth(both) > best - 1e-9} for player in PLAYERS}
    found = []
    for player in PLAYERS:
        worths = {choice: worth({**done, player: choice}) for choice in options[player]}
        gain = max(worths.values()) - worth(done)
        if done[player] not in parts[player] and gain > 1e-9:
            found.append(Alternative(player, gain, [choice for choice in worths if worths[choice] > max(worths.values()) - 1e-9]))
    return found, all(done[player] in parts[player] for player in PLAYERS)


def assert_shared(found: Attributed, cost: float, expected: tuple[list[Alternative], bool], idle: Both) -> None:
    causes, is_conflict = expected
    kept = min(max((cause.gain for cause in causes), default=0.0), cost)
    total = sum(cause.gain for cause in causes)
    shares = [
        (cause.agent, "idle" if idle[cause.agent] else "acted_wrong", kept * cause.gain / total, min(cause.gain, cost)) for cause in causes
    ]
    rest = [(None, "conflict" if is_conflict else "not_seen", cost - kept, None)] if cost - kept > 1e-9 else []
    told = [(one.agent, one.link, one.cost, one.regained) for one in found.findings]
    assert told == [pytest.approx(one) for one in (*shares, *rest)]
    for one, cause in zip(found.findings, causes, strict=False):
        assert one.ideal is not None
        assert one.ideal.kept == tuple(player for player in PLAYERS if player != cause.agent)
        assert any(str(getattr(choice, "text", choice)) in one.ideal.text for choice in cause.best)
        assert any(str(getattr(choice, "text", choice)) in one.evidence for choice in cause.best)


@pytest.mark.parametrize("number", [1, 2])
def test_capture_by_trying_every_joint_choice(number: int) -> None:
    """In the first turn, too, in which an exchange of rooms is no capture."""
    rng, links = random.Random(number), set[str]()
    for state in capture_states(120):

        def worth(both: Both, state: capture.CaptureState = state) -> float:
            turned = capture.step(state, both, first=number == 1)
            return 0.0 if turned.capture else -turns_left(turned.state, first=False)

        options = {player: state.actions(player) for player in PLAYERS}
        done = {player: rng.choice(options[player]) for player in PLAYERS}
        before, after = turns_left(state, first=number == 1), -worth(done)
        cost = 1 + after - before
        if before < 99 and cost > 0:
            acts = [action(player, chosen.verb, room=chosen.room) for player, chosen in done.items()]
            turns = [turn(place, {"rooms": state.rooms, "doors": state.doors}, *acts) for place in range(1, number + 1)]
            found = attribute(game("collab_capture", *turns), {number: Lost(before, after, cost)})
            assert_shared(found, cost, alternatives(options, done, worth), {p: done[p].verb == "stay" for p in PLAYERS})
            assert found.follows == ()
            links |= {one.link for one in found.findings}
    assert links == {"acted_wrong", "idle", "not_seen", "conflict"}


def escape_actions(done: Mapping[Player, str]) -> Iterator[ActionView]:
    for player, chosen in done.items():
        verb = "wait" if chosen == escape.WAIT else chosen.split()[0]
        yield action(player, verb, room=escape.room_in(chosen))


def test_escape_by_trying_every_joint_choice() -> None:
    rng, links = random.Random(3), set[str]()
    for state in escape_states(160):
        target = state.target
        told = {"rooms": state.rooms, "generators": {str(room): n for room, n in state.generators.items()}, "adversary_target": target}
        seen = escape.EscapeState(state.rooms, state.generators, frozenset(PLAYERS) if target else frozenset(), target)
        options = {player: escape.actions(state, player) for player in PLAYERS}
        done = {player: rng.choice(options[player]) for player in PLAYERS}

        def worth(both: Both, seen: escape.EscapeState = seen) -> float:
            return choice_chance(seen, 34, both)

        before = max(worth(dict(zip(PLAYERS, both, strict=True))) for both in product(*options.values()))
        cost = before - worth(done)
        if cost > 1e-9:
            turns = [turn(place, told, *escape_actions(done)) for place in range(1, 35)]
            found = attribute(game("collab_escape", *turns), {34: Lost(before, worth(done), cost)})
            assert_shared(found, cost, alternatives(options, done, worth), {p: done[p] == "wait" for p in PLAYERS})
            links |= {one.link for one in found.findings}
    assert links == {"acted_wrong", "idle", "not_seen", "conflict"}


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("collab_capture", {"rooms": {"Alice": 1, "Bob": 2, "Thief": 5}, "doors": {"1-2": True, "3-4": True}}),
        ("collab_escape", {"rooms": {"Alice": 1, "Bob": 2, "Adversary": 5}, "generators": {"1": 0, "6": 0}}),
        ("hanabi", {"player": "Bob"}),
        ("overcooked", {}),
    ],
)
def test_where_an_action_is_missing_nothing_is_decided(name: str, state: Mapping[str, Any]) -> None:
    """Nor in the game without values; turns that the log does not have are nobody's."""
    acts = [action("Alice", "stay" if name == "collab_capture" else "wait", room=1)]
    found = attribute(game(name, turn(1, state, *acts)), {1: Lost(3.0, 3.0, 1.0), 2: Lost(3.0, 3.0, 1.0)})
    assert [(one.turn, one.agent, one.link, one.cost) for one in found.findings] == [(1, None, "undecided", 1.0)]


# -- Hanabi -----------------------------------------------------------------------------------------------

ALICE = ("R3", "Y3", "G2", "B4", "W4")
BOB = ("R1", "Y2", "G4", "B1", "W5")
UNKNOWN = {"colors": COLORS, "ranks": RANKS, "color_hinted": False, "rank_hinted": False}
RANK_3 = UNKNOWN | {"ranks": "3", "rank_hinted": True}
RANK_4 = UNKNOWN | {"ranks": "4", "rank_hinted": True}
RED_3 = RANK_3 | {"colors": "R", "color_hinted": True}
GONE = ("R3", "Y3")
"""So Alice's R3 and Y3 are the last ones."""


def table(player: str, alice: Mapping[int, Any] | None = None, bob: Mapping[int, Any] | None = None, **facts: Any) -> dict[str, Any]:
    """Before a turn; what is known of cards by their places, of the others nothing."""
    known = {"Alice": alice or {}, "Bob": bob or {}}
    start = {
        "player": player,
        "hands": {"Alice": list(ALICE), "Bob": list(BOB)},
        "knowledge": {name: [known[name].get(place, UNKNOWN) for place in range(5)] for name in PLAYERS},
        "fireworks": dict.fromkeys(COLORS, 0),
        "discard_pile": list(GONE),
        "information_tokens": 4,
        "life_tokens": 3,
        "deck_size": 20,
    }
    return start | facts


class Hand(NamedTuple):
    """A turn of Alice that cost a point, worked by hand."""

    state: Mapping[str, Any]
    done: ActionView
    expected: tuple[str | None, str, float | None]
    """Whose, link, what the agent could have kept."""

    told: str
    before: TurnView | None = None
    """The turn of Bob before it."""


def of_bob(verb: str, state: Mapping[str, Any] | None = None, **arguments: Any) -> TurnView:
    return turn(1, table("Bob") if state is None else state, action("Bob", verb, **arguments))


DISCARD = action("Alice", "discard", card=0)
NOT_SAID = (DISCARD, ("Bob", "not_said", None), "had a hint to give")
NOT_SEEN = (DISCARD, (None, "not_seen", None), "the partner had no hint to give, or nothing better")

HANDS = {
    "a hint": Hand(table("Alice"), action("Alice", "reveal_rank", value="1"), (None, "not_seen", None), "a hint loses nothing"),
    "a play": Hand(table("Alice"), action("Alice", "play", card=0), ("Alice", "acted_wrong", 1.0), "play of card 0, a R3; by hints"),
    "time": Hand(table("Alice"), action("Alice", "discard", card=2), (None, "not_seen", None), "the cost is time"),
    "known to be the last": Hand(table("Alice", {0: RED_3}), DISCARD, ("Alice", "acted_wrong", 1.0), "each of them the last copy"),
    "known to be the last, and no token left": Hand(
        table("Alice", {0: RED_3}, information_tokens=0), DISCARD, ("Alice", "acted_wrong", 1.0), "card 1 was less likely"
    ),
    "a less likely one": Hand(table("Alice", {0: RANK_3}), DISCARD, ("Alice", "acted_wrong", 1.0), "card 1 was less likely"),
    "the least likely of several": Hand(
        table("Alice", {0: RANK_3, 1: RANK_3, 2: RANK_4, 3: RED_3, 4: RED_3}),
        DISCARD,
        ("Alice", "acted_wrong", 1.0),
        "card 2 was less likely",
    ),
    "no other is less likely": Hand(table("Alice", dict.fromkeys(range(5), RANK_3)), *NOT_SEEN, of_bob("discard", card=0)),
    "the partner threw a card away": Hand(table("Alice"), *NOT_SAID, of_bob("discard", card=0)),
    "the partner misplayed": Hand(table("Alice"), *NOT_SAID, of_bob("play", card=2)),
    "the partner played well": Hand(table("Alice"), *NOT_SEEN, of_bob("play", card=0)),
    "the partner had no token": Hand(table("Alice"), *NOT_SEEN, of_bob("discard", table("Bob", information_tokens=0), card=0)),
    "the partner named it": Hand(table("Alice"), *NOT_SEEN, of_bob("reveal_color", value="R")),
    "the partner named another last copy": Hand(table("Alice"), *NOT_SEEN, of_bob("reveal_color", value="Y")),
    "the partner named what it had named": Hand(
        table("Alice"), *NOT_SAID, of_bob("reveal_color", table("Bob", {1: UNKNOWN | {"color_hinted": True}}), value="Y")
    ),
    "the partner named nothing of worth": Hand(table("Alice"), *NOT_SAID, of_bob("reveal_rank", value="4")),
    "the partner named a playable one": Hand(
        table("Alice"), *NOT_SEEN, of_bob("reveal_rank", table("Bob", fireworks=dict.fromkeys(COLORS, 0) | {"B": 3}), value="4")
    ),
    "the turn before was no turn of the partner": Hand(
        table("Alice"), *NOT_SEEN, turn(1, table("Alice"), action("Bob", "discard", card=0))
    ),
    "the partner did nothing": Hand(table("Alice"), *NOT_SEEN, turn(1, table("Bob"))),
    "the first turn": Hand(table("Alice"), *NOT_SEEN),
    "not the one to be thrown away": Hand(table("Alice"), action("Alice", "discard", card=1), *NOT_SEEN[1:], of_bob("discard", card=0)),
    "the one to be thrown away behind one with a hint": Hand(
        table("Alice", {0: UNKNOWN | {"color_hinted": True}}),
        action("Alice", "discard", card=1),
        *NOT_SAID[1:],
        of_bob("discard", card=0),
    ),
    "behind one with a hint of its rank": Hand(
        table("Alice", {0: UNKNOWN | {"rank_hinted": True}}),
        action("Alice", "discard", card=1),
        *NOT_SAID[1:],
        of_bob("discard", card=0),
    ),
}


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_hand_worked_turns_of_hanabi(hand: Hand) -> None:
    before = [] if hand.before is None else [hand.before]
    number = len(before) + 1
    found = attribute(game("hanabi", *before, turn(number, hand.state, hand.done)), {number: Lost(20.0, 19.0, 1.0)})
    (one,) = found.findings
    assert (one.agent, one.link, one.regained, one.cost) == (*hand.expected, 1.0)
    assert hand.told in one.evidence


@pytest.mark.parametrize(
    ("hint", "known", "answer", "expected"),
    [
        (("reveal_rank", "1"), {}, action("Bob", "play", card=3), "fully"),
        (("reveal_rank", "1"), {}, action("Bob", "play", card=1), "differs"),
        (("reveal_rank", "1"), {}, action("Bob", "discard", card=0), "no"),
        (("reveal_rank", "1"), {}, action("Bob", "reveal_rank", value="3"), "no"),
        (
            ("reveal_rank", "1"),
            {0: UNKNOWN | {"rank_hinted": True}, 3: UNKNOWN | {"rank_hinted": True}},
            action("Bob", "play", card=0),
            None,
        ),
        (("reveal_rank", "1"), {}, action("Alice", "play", card=0), None),
        (("reveal_rank", "5"), {}, action("Bob", "play", card=4), None),
    ],
)
def test_a_hint_asks_for_the_cards_that_fit(
    hint: tuple[str, str], known: Mapping[int, Any], answer: ActionView, expected: str | None
) -> None:
    asking = turn(1, table("Alice", bob=known), action("Alice", hint[0], value=hint[1]), said="Alice")
    found = attribute(game("hanabi", asking, turn(2, table("Bob"), answer)), {}).follows
    told = [(one.turn, one.seq, one.agent, one.actor, one.request, one.how, one.right) for one in found]
    assert told == ([] if expected is None else [(1, 3, "Alice", "Bob", "play card 0 (R1) or card 3 (B1)", expected, True)])


def test_what_is_no_hint_asks_for_nothing() -> None:
    turns = [turn(1, table("Alice"), DISCARD), turn(2, table("Bob"), action("Bob", "play", card=0)), turn(3, {}), turn(4, {})]
    assert attribute(game("hanabi", *turns), {}).follows == []


@pytest.mark.parametrize(
    ("state", "done", "before", "other"),
    [
        (table("Alice"), action("Alice", "play", card=0), of_bob("discard", card=0), "not_said"),
        (table("Alice", {3: RANK_4}), action("Alice", "play", card=0), of_bob("reveal_rank", value="4"), "not_said"),
        (table("Alice", {3: RANK_4, 4: RANK_4}), action("Alice", "play", card=3), of_bob("reveal_rank", value="4"), "said_unclear"),
        (table("Alice"), action("Alice", "play", card=0), of_bob("play", card=0), None),
        (table("Alice"), action("Alice", "play", card=0), of_bob("discard", table("Bob", information_tokens=0), card=0), None),
        (table("Alice", {0: RANK_3}), action("Alice", "play", card=0), of_bob("discard", card=0), None),
    ],
)
def test_a_player_is_blamed_alone_only_where_the_other_had_no_chance(
    state: Mapping[str, Any], done: ActionView, before: TurnView, other: str | None
) -> None:
    """A card that does not fit: the partner saw it, had a hint to give and never gave one, or had just pointed at it."""
    found = attribute(game("hanabi", before, turn(2, state, done)), {2: Lost(20.0, 19.0, 1.0)}).findings
    shares = {(one.agent, one.link): one.cost for one in found}
    assert shares == ({("Alice", "acted_wrong"): 1.0} if other is None else {("Alice", "acted_wrong"): 0.5, ("Bob", other): 0.5})


def test_a_chance_long_before_counts_if_the_card_was_there() -> None:
    """Bob threw a card away on turn 1; Alice then threw one, so her card 1 became card 0. A card that she drew later he could not name."""
    turns = [
        of_bob("discard", card=0),
        turn(2, table("Alice"), action("Alice", "discard", card=2)),
        turn(3, table("Bob"), action("Bob", "play", card=0)),
    ]

    def shares(place: int) -> dict[str | None, float]:
        played = turn(4, table("Alice"), action("Alice", "play", card=place))
        found = attribute(game("hanabi", *turns, played), {4: Lost(20.0, 19.0, 1.0)}).findings
        return {one.agent: one.cost for one in found}

    assert shares(0) == {"Alice": 0.5, "Bob": 0.5}
    assert shares(3) == {"Alice": 0.5, "Bob": 0.5}
    assert shares(4) == {"Alice": 1.0}


def test_a_play_that_a_hint_asked_for_is_no_lucky_play() -> None:
    """The partner pointed at the card, with its last turn or earlier; a play that no hint named is lucky, and is not called safe."""
    hint = turn(1, table("Bob", fireworks=dict.fromkeys(COLORS, 0) | {"B": 3}), action("Bob", "reveal_rank", value="4"))
    silent = of_bob("discard", card=0)
    hinted = table("Alice", {3: RANK_4, 4: RANK_4}, fireworks=dict.fromkeys(COLORS, 0) | {"B": 3})
    played = turn(2, hinted, action("Alice", "play", card=3))
    guessed = turn(2, table("Alice", {3: UNKNOWN | {"ranks": "4"}}, fireworks=dict.fromkeys(COLORS, 0) | {"B": 3}), played.actions[0])
    asked, earlier, alone = (game("hanabi", *turns) for turns in ((hint, played), (silent, played), (silent, guessed)))
    assert CHECKS["coordination.JP2"](asked, 2, "Alice").reason.startswith("clued_play")
    assert CHECKS["coordination.JP1"](earlier, 2, "Alice").answer is None  # the hint came before the partner's last turn
    assert CHECKS["coordination.JP2"](alone, 2, "Alice").reason.startswith("lucky_play")
    assert CHECKS["coordination.JP1"](asked, 2, "Alice").answer is None
    assert CHECKS["coordination.JP1"](alone, 2, "Alice").answer == "no"


@pytest.mark.parametrize("number", [1, 2])
def test_an_action_of_a_fastest_capture_is_never_called_a_step_back(number: int) -> None:
    """Whatever it is, a step to a button, around the thief or none at all: where the turn cost nothing, or the partner alone cost it."""
    answers = set[str | None]()
    for state in capture_states(60):
        before = turns_left(state, first=number == 1)
        if before > 99:
            continue
        for both in product(*(state.actions(player) for player in PLAYERS)):
            done = dict(zip(PLAYERS, both, strict=True))
            turned = capture.step(state, done, first=number == 1)
            after = 0.0 if turned.capture else turns_left(turned.state, first=False)
            acts = [action(player, chosen.verb, room=chosen.room) for player, chosen in done.items()]
            turns = [turn(place, {"rooms": state.rooms, "doors": state.doors}, *acts) for place in range(1, number + 1)]
            found = {player: CHECKS["coordination.JP2"](game("collab_capture", *turns), number, player).answer for player in PLAYERS}
            answers |= set(found.values())
            if 1 + after == before:
                assert "no" not in found.values()
    assert {"yes", "no"} <= answers
