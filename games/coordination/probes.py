"""Questions about states of CollabCapture and Hanabi, whose keys are the engine's."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import product
from math import inf
from typing import Any, Final

from games.coordination.capture import ROOMS, CaptureState
from games.coordination.hanabi import COLORS, HanabiState, Known, action_text, legal_moves
from games.coordination.players import PLAYERS
from games.coordination.value import best_actions, turns_after
from games.probes import Probe, Scenario, Scene

_CAPTURE: Final = (
    "Alice and Bob hunt a thief through rooms. All three move at the same time. A player stays, moves through an open door, or presses the "
    "button of its room, which toggles a door (room 9: door 1-2, room 8: door 3-4). The thief is caught if it is in a room with a player "
    "after a turn, or changes rooms with one (not in the first turn). It knows both choices, and enters the room whose number is farthest "
    "from the nearer player's next room.\n"
    "Neighbours: " + "; ".join(f"{room}: {', '.join(map(str, others))}" for room, others in ROOMS.items())
)
_HANABI: Final = (
    "Hanabi with two players. Cards have one of five colours and a rank from 1 to 5. A card can be played if its rank is one above that of "
    "its colour's firework; a wrong play costs a life. A player sees the other hand, not its own; of its own it knows what hints named."
)


def fixed(_: random.Random) -> Iterable[Scenario]:
    """None: every question is about a logged state."""
    return ()


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """By game; None for the games without values."""
    made = {"collab_capture": _capture, "hanabi": _hanabi}.get(scene.level)
    return made(scene.state, scene.turn, rng) if made is not None else None


def _capture(found: Mapping[str, Any], turn: int, rng: random.Random) -> Scenario | None:
    state = CaptureState(found["rooms"], found["doors"])
    first = turn == 1
    best = best_actions(state, first=first)
    if not best["Alice"]:
        return None
    pairs = list(product(*(state.actions(player) for player in PLAYERS)))
    worth = {pair: turns_after(state, dict(zip(PLAYERS, pair, strict=True)), first=first) for pair in pairs}
    fewest = min(worth.values())
    texts = {pair: f"Alice: {pair[0].text}; Bob: {pair[1].text}" for pair in pairs}
    player = rng.choice(PLAYERS)
    rooms, doors = state.rooms, "; ".join(f"door {door} is {'open' if is_open else 'closed'}" for door, is_open in state.doors.items())
    near = state.reachable(rooms[player])
    partner = next(one for one in PLAYERS if one != player)
    return Scenario(
        "CollabCapture",
        f"{_CAPTURE}\nAlice is in room {rooms['Alice']}, Bob in room {rooms['Bob']}, the thief in room {rooms['Thief']}; {doors}.",
        {
            "EC": Probe(
                f"Which room can {player} enter now?",
                [f"room {room}" for room in near],
                [f"room {room}" for room in ROOMS if room not in near],
            ),
            "TOM": Probe(
                f"What does {partner} do if both play for the fastest possible capture?",
                sorted({action.text for action in best[partner]}),
                sorted({action.text for action in state.actions(partner)} - {action.text for action in best[partner]}),
            ),
            "JP": Probe(
                "Which joint choice leads to the fastest possible capture?",
                [texts[pair] for pair in pairs if worth[pair] == fewest < inf],
                [texts[pair] for pair in pairs if worth[pair] > fewest],
            ),
        },
    )


def _hanabi(found: Mapping[str, Any], _: int, rng: random.Random) -> Scenario | None:
    me = found["player"]
    other = next(player for player in PLAYERS if player != me)
    names = (me, other)
    known = [tuple(Known(*(card[key] for key in Known._fields)) for card in found["knowledge"][name]) for name in names]
    state = HanabiState(
        hands=(tuple(found["hands"][me]), tuple(found["hands"][other])),
        knowledge=(known[0], known[1]),
        fireworks=found["fireworks"],
        discards=tuple(found["discard_pile"]),
        tokens=found["information_tokens"],
        lives=found["life_tokens"],
        deck=found["deck_size"],
    )
    cards = [f"{color}{rank}" for color in COLORS for rank in "12345"]
    holder = rng.randrange(2)
    place = rng.randrange(len(state.hands[holder])) if state.hands[holder] else 0
    facts = {
        (True, True): "its colour and rank",
        (True, False): "its colour alone",
        (False, True): "its rank alone",
        (False, False): "neither",
    }
    if not state.hands[holder]:
        return None
    card = state.knowledge[holder][place]
    hinted = facts[card.color_hinted, card.rank_hinted]
    plays = {move: state.fits(state.hands[0][move.card]) for move in legal_moves(state, 0) if move.verb == "play" and move.card is not None}
    hands = "; ".join(f"{name} holds {' '.join(hand)} (from the first)" for name, hand in zip(names, state.hands, strict=True))
    hints = "; ".join(
        f"{name} got hints of {', '.join(facts[one.color_hinted, one.rank_hinted] for one in own)} of its cards, from the first"
        for name, own in zip(names, state.knowledge, strict=True)
    )
    fireworks = ", ".join(f"{color} {rank}" for color, rank in state.fireworks.items())
    return Scenario(
        "Hanabi states",
        f"{_HANABI}\nSeen from above: {hands}.\nHints: {hints}.\nFireworks: {fireworks}. Lives {state.lives}, hint tokens {state.tokens}.",
        {
            "EC": Probe(
                "Which of these cards could be played now?",
                [one for one in cards if state.fits(one)],
                [one for one in cards if not state.fits(one)],
            ),
            "TOM": Probe(
                f"What have hints named to {names[holder]} of its card {place + 1} from the first?",
                [hinted],
                [one for one in facts.values() if one != hinted],
            ),
            "JP": Probe(
                f"It is {me}'s turn. Seen from above, which play scores?",
                [action_text(move, me) for move, fits in plays.items() if fits],
                [action_text(move, me) for move, fits in plays.items() if not fits],
            ),
        },
    )
