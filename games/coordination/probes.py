"""Questions about states of CollabCapture, CollabEscape and Hanabi, whose keys are the engine's."""

import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from games.coordination.capture import ROOMS, CaptureState
from games.coordination.escape import FIXES_NEEDED, EscapeState, actions, killer_options
from games.coordination.escape import ROOMS as ESCAPE_ROOMS
from games.coordination.hanabi import COLORS, HanabiState, Known, action_text, legal_moves
from games.coordination.players import PLAYERS
from games.coordination.value import best_actions, choice_turns, turns_after
from games.probes import RULES, Probe, Scenario, Scene


def _with_map(game: str, rooms: Mapping[int, Sequence[int]]) -> str:
    near = "; ".join(f"{room}: {', '.join(map(str, others))}" for room, others in rooms.items())
    return f"{RULES[game]}\nNeighbours: {near}"


_CAPTURE: Final = _with_map("collab_capture", ROOMS)
_ESCAPE: Final = _with_map("collab_escape", ESCAPE_ROOMS)
_ESCAPE_ACTIONS: Final = (*(f"move to room {room}" for room in ESCAPE_ROOMS), "fix generator in room 1", "fix generator in room 6", "wait")
_HANABI: Final = RULES["hanabi"]


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """By game; None for the games without values."""
    made = {"collab_capture": _capture, "collab_escape": _escape, "hanabi": _hanabi}.get(scene.level)
    return made(scene.state, scene.turn, rng) if made is not None else None


def _capture(found: Mapping[str, Any], turn: int, rng: random.Random) -> Scenario | None:
    state = CaptureState(found["rooms"], found["doors"])
    first = turn == 1
    best = best_actions(state, first=first)
    if not best["Alice"]:
        return None
    pairs = product(*(state.actions(player) for player in PLAYERS))
    worth = {_both(*(one.text for one in pair)): -turns_after(state, dict(zip(PLAYERS, pair, strict=True)), first=first) for pair in pairs}
    player = rng.choice(PLAYERS)
    rooms, doors = state.rooms, "; ".join(f"door {door} is {'open' if is_open else 'closed'}" for door, is_open in state.doors.items())
    near = state.reachable(rooms[player])
    partner = next(one for one in PLAYERS if one != player)
    return Scenario(
        "CollabCapture states",
        f"{_CAPTURE}\nAlice is in room {rooms['Alice']}, Bob in room {rooms['Bob']}, the thief in room {rooms['Thief']}; {doors}.",
        {
            "EC": Probe.of(f"Which room can {player} enter now?", {f"room {at}": at in near for at in ROOMS}),
            "TOM": Probe.of(
                f"What does {partner} do if both play for the fastest possible capture?",
                {action.text: action in best[partner] for action in state.actions(partner)},
            ),
            "JP": Probe.best("Which joint choice leads to the fastest possible capture?", worth),
        },
    )


def _both(alice: str, bob: str) -> str:
    return f"Alice: {alice}; Bob: {bob}"


def _escape(found: Mapping[str, Any], _: int, rng: random.Random) -> Scenario | None:
    rooms = found["rooms"]
    state = EscapeState(rooms, {int(room): repairs for room, repairs in found["generators"].items()})
    near = [player for player in PLAYERS if rooms[player] in ESCAPE_ROOMS[rooms["Adversary"]]]
    if len(near) == len(PLAYERS):  # then it matters whom the killer saw before, which the state does not tell
        return None
    pairs = [dict(zip(PLAYERS, pair, strict=True)) for pair in product(*(actions(state, player) for player in PLAYERS))]
    worth = {_both(*pair.values()): -choice_turns(state, pair) for pair in pairs}
    player = rng.choice(PLAYERS)
    killer = {f"room {at}": at in {option.room for option in killer_options(state)} for at in ESCAPE_ROOMS}
    fixed_at = "; ".join(f"room {at}: {min(repairs, FIXES_NEEDED)} of {FIXES_NEEDED}" for at, repairs in state.generators.items())
    return Scenario(
        "CollabEscape states",
        f"{_ESCAPE}\n{'; '.join(f'{name} is in room {room}' for name, room in rooms.items())} (the killer). Repairs: {fixed_at}.",
        {
            "EC": Probe.of(f"What may {player} choose now?", {one: one in actions(state, player) for one in _ESCAPE_ACTIONS}),
            "TOM": Probe.of("Where may the killer go in this turn?", killer),
            "JP": Probe.best("With which joint choice is the escape sure, and on average in the fewest turns?", worth),
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
            "EC": Probe.of("Which of these cards could be played now?", {one: state.fits(one) for one in cards}),
            "TOM": Probe.of(
                f"What have hints named to {names[holder]} of its card {place + 1} from the first?",
                {one: one == hinted for one in facts.values()},
            ),
            "JP": Probe.of(
                f"It is {me}'s turn. Seen from above, which play scores?", {action_text(move, me): fits for move, fits in plays.items()}
            ),
        },
    )
