"""The stored states of LLM-Coordination as the games' own objects."""

from __future__ import annotations

from games.coordination.capture import Action, CaptureState
from games.coordination.escape import EscapeState
from games.coordination.hanabi import HanabiState, Known, Move, Verb, newly_named
from games.coordination.kitchen import COOKING_TICKS, LAYOUTS, Cook, Item, KitchenState, Layout, Spot, cookers
from games.coordination.players import HARNESS_READS, PLAYERS, READS, Player
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView

QUESTIONS = "coordqa"
"""What `game_of` calls an answer to CoordinationQA."""

_VERBS: dict[str, Verb] = {"play": "play", "discard": "discard", "reveal_color": "reveal_color", "reveal_rank": "reveal_rank"}


def game_of(game: Transcript) -> str:
    """hanabi, overcooked, collab_capture, collab_escape, or `QUESTIONS`."""
    return QUESTIONS if "respondent" in game.agents else str(game.details.get("game"))


def player_named(name: str | None) -> Player | None:
    """The player of that name; None for anybody else."""
    return next((player for player in PLAYERS if player == name), None)


def harness_choice(turn: TurnView, player: str) -> tuple[str, str] | None:
    """How the harness came to the player's action where it is not the player's own, and in which words; None where it is its own."""
    by_rule = {found.taxonomy: found for found in turn.failures if found.agent == player and found.taxonomy.startswith("coordination_")}
    read, meant = by_rule.get("coordination_read"), by_rule.get("coordination_grounding")
    if read is None or read.category not in HARNESS_READS or (meant is not None and meant.category == "as_intended"):
        return None
    return read.category, read.evidence or READS[read.category]


def clued_cards(game: Transcript, turn: int) -> tuple[int, ...]:
    """Hanabi: cards of the acting player that its partner's move just before told something new about."""
    if turn == 1:
        return ()
    before = game.turn(turn - 1)
    action = before.action_of(before.state_before.get("player"))
    return () if action is None else newly_named(hanabi_state(before), 0, hanabi_move(action))


def hinted_cards(game: Transcript, turn: int) -> frozenset[int]:
    """Hanabi: cards of the acting player that a hint has named, just before or earlier: playing one may follow that hint."""
    held = hanabi_state(game.turn(turn)).knowledge[0]
    return frozenset(place for place, known in enumerate(held) if known.color_hinted or known.rank_hinted) | set(clued_cards(game, turn))


def seat_of(turn: TurnView, player: Player) -> int:
    """Place of a player's hand in `hanabi_state`: the acting one sits at 0."""
    return 0 if turn.state_before.get("player") == player else 1


def hanabi_state(turn: TurnView) -> HanabiState:
    """The table before a turn, the acting player at seat 0."""
    state = turn.state_before
    first = state["player"]
    second = next(player for player in PLAYERS if player != first)
    known = [
        tuple(Known(card["colors"], card["ranks"], card["color_hinted"], card["rank_hinted"]) for card in state["knowledge"][name])
        for name in (first, second)
    ]
    return HanabiState(
        hands=(tuple(state["hands"][first]), tuple(state["hands"][second])),
        knowledge=(known[0], known[1]),
        fireworks=state["fireworks"],
        discards=tuple(state["discard_pile"]),
        tokens=state["information_tokens"],
        lives=state["life_tokens"],
        deck=state["deck_size"],
    )


def hanabi_move(action: ActionView) -> Move:
    """A stored action as a move."""
    return Move(_VERBS[action.verb], action.arguments.get("card"), action.arguments.get("value"))


def kitchen_state(turn: TurnView) -> tuple[Layout, KitchenState]:
    """The kitchen before a tick."""
    state = turn.state_before
    cooks = tuple(
        Cook(Spot(*state["cooks"][player]["position"]), state["cooks"][player]["facing"], _item(state["cooks"][player]["held"]))
        for player in PLAYERS
    )
    objects = {Spot(*found["position"]): item for found in state["objects"] if (item := _item(found["item"])) is not None}
    return LAYOUTS[state["layout"]], KitchenState(cooks, objects)


def cookers_of(turn: TurnView) -> dict[str, Item | None]:
    """What is in each cooker before a tick, or before a decision of a player's own file, which says of a soup only whether it is cooked."""
    told = turn.state_before.get("cookers")
    if told is None:
        return cookers(*kitchen_state(turn))
    return {name: _soup(cooker) if cooker["onions"] else None for name, cooker in told.items()}


def held_of(turn: TurnView) -> dict[Player, str]:
    """What each cook holds: onion, dish, soup or nothing; a player's own file may not tell of the partner."""
    told = turn.state_before.get("held")
    if told is not None:
        return {player: _thing(told[player]) for player in PLAYERS if player in told}
    _, state = kitchen_state(turn)
    return {player: cook.held.name if cook.held else "nothing" for player, cook in zip(PLAYERS, state.cooks, strict=True)}


def lying_at(turn: TurnView, name: str) -> str | None:
    """What lies at a named counter such as `s0`, in the same words; None where the log does not tell."""
    told = turn.state_before.get("counters")
    if told is not None:
        return _thing(told[name]) if name in told else None
    layout, state = kitchen_state(turn)
    if name not in layout.names:
        return None
    found = state.objects.get(layout.names[name])
    return found.name if found else "nothing"


def _thing(words: str) -> str:
    """A player's own file says `plate`, `soup in plate`, `empty`."""
    if "soup" in words:
        return "soup"
    return {"plate": "dish", "empty": "nothing"}.get(words, words)


def _soup(cooker: JsonObject) -> Item:
    return Item("soup", cooker["onions"], COOKING_TICKS if cooker["soup"] == "cooked" else 0)


def _item(text: str | None) -> Item | None:
    """`soup 3/20` is three onions, cooked for 20 ticks."""
    if text is None:
        return None
    name, _, counts = text.partition(" ")
    onions, _, ticks = counts.partition("/")
    return Item(name, int(onions or 0), int(ticks or 0))


def macro_of(action: ActionView) -> str | None:
    """The macro action that a cook chose in this tick; None if it was not asked."""
    return str(action.arguments.get("macro")) if action.arguments.get("asked") else None


def capture_state(turn: TurnView) -> CaptureState:
    """Rooms and doors before a turn."""
    return CaptureState(turn.state_before["rooms"], turn.state_before["doors"])


def capture_action(action: ActionView) -> Action:
    """A stored action as one of the rules."""
    room = int(action.arguments["room"])
    if action.verb == "press":
        return Action("press", room)
    return Action("move" if action.verb == "move" else "stay", room)


def escape_state(turn: TurnView) -> EscapeState:
    """Rooms and generators before a turn; whom the killer goes for is as logged."""
    state: JsonObject = turn.state_before
    target = player_named(state.get("adversary_target"))
    seen: frozenset[Player] = frozenset(PLAYERS) if target else frozenset()
    return EscapeState(state["rooms"], {int(room): counter for room, counter in state["generators"].items()}, seen, target)


def escape_choices(turn: TurnView) -> dict[Player, str]:
    """What each player did, in the words of the game."""
    words = {"move": "move to room {}", "fix": "fix generator in room {}", "wait": "wait"}
    return {
        player: words[action.verb].format(action.arguments.get("room"))
        for player in PLAYERS
        if (action := turn.action_of(player)) is not None
    }
