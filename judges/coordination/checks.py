"""Engine checks of LLM-Coordination: answered wherever the state, the rules or the key decide, undecided elsewhere."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final

from games.coordination import capture, escape
from games.coordination.capture import BUTTONS, CaptureState, distance
from games.coordination.hanabi import HanabiState, is_known_playable, is_safe_discard, move_category, possible_cards
from games.coordination.kitchen import DIRECTIONS, Cook, KitchenState, Layout, Spot, distances, macro_category, place_of
from games.coordination.players import PLAYERS, Player, partner_of
from games.coordination.value import best_actions
from judges.checks import Check, Decision
from judges.coordination import situation
from judges.evidence.transcript import Transcript, TurnView
from schemas.common.packages import packaged_yaml

_NO_STEP: Final = Decision("na", "the player does not move on this turn")
_SOON: Final = 1
"""Steps to go from which on a partner is held up at once; farther away, the way may be free again when it comes."""


def kitchen_way(turn: TurnView, player: Player) -> Decision:
    """No where both go for one tile, or where the partner was nearly there and has no way any more."""
    action, partners = turn.action_of(player), turn.action_of(partner_of(player))
    if "cooks" not in turn.state_before:
        return Decision(None, "a player's own file does not give positions")
    if action is None or action.verb not in DIRECTIONS or partners is None:
        return _NO_STEP
    layout, state = situation.kitchen_state(turn)
    me = PLAYERS.index(player)
    cook, other = state.cooks[me], state.cooks[1 - me]
    spot, others = _next(layout, cook, action.verb), _next(layout, other, partners.verb)
    if (spot == others or (spot == other.spot and others == cook.spot)) and spot != cook.spot:
        return Decision("no", f"both go for one tile, ({spot.x},{spot.y}), and neither moves")
    target = layout.names.get(place_of(str(partners.arguments.get("macro"))) or "")
    if target is None:
        return Decision(None, f"{partner_of(player)} is not on its way to a place")
    aside = spot if spot != other.spot else cook.spot
    before, after = (_steps(layout, state, 1 - me, here, target) for here in (cook.spot, aside))
    seen = f"{partner_of(player)} has {_words(after)} to {place_of(str(partners.arguments.get('macro')))}, before the move {_words(before)}"
    if after is None:
        return Decision("no" if before is not None and before <= _SOON else None, seen)
    return Decision("yes" if before is None or after <= before else None, seen)


def _next(layout: Layout, cook: Cook, verb: str) -> Spot:
    if verb not in DIRECTIONS:
        return cook.spot
    ahead = cook._replace(facing=verb).front
    return ahead if layout.tile(ahead) == " " else cook.spot


def _steps(layout: Layout, state: KitchenState, who: int, blocked: Spot, target: Spot) -> int | None:
    """Steps of a cook to a tile next to a place while the other one is on a tile; None where there is no way."""
    cooks = list(state.cooks)
    cooks[1 - who] = cooks[1 - who]._replace(spot=blocked)
    reach = distances(layout, KitchenState(tuple(cooks), state.objects), who, around_partner=True)
    adjacent: Sequence[Spot] = [Spot(target.x + dx, target.y + dy) for dx, dy in DIRECTIONS.values()]
    return min((reach[spot] for spot in adjacent if spot in reach), default=None)


def capture_way(turn: TurnView, player: Player) -> Decision:
    """A button can shut the door through which the partner would come to the thief; nothing else blocks in the capture."""
    action = turn.action_of(player)
    if action is None or action.verb != "press":
        return Decision("na", "no door is moved")
    state = situation.capture_state(turn)
    door = BUTTONS[situation.capture_action(action).room]
    toggled = CaptureState(state.rooms, {**state.doors, door: not state.doors[door]})
    partner, thief = state.rooms[partner_of(player)], state.rooms["Thief"]
    before, after = (distance(one, partner, thief) for one in (state, toggled))
    shut = "open" if toggled.doors[door] else "closed"
    seen = f"with door {door} {shut} {partner_of(player)} has {_words(after)} to the thief, before {_words(before)}"
    if before is not None and (after is None or after > before):
        return Decision("no", seen)
    return Decision("yes" if after is not None else None, seen)


def _words(steps: int | None) -> str:
    return "no way" if steps is None else f"{steps} steps"


_NO_MOVE: Final = Decision("na", "the player decides nothing on this turn")

_MOVES: Final[Mapping[str, Mapping[str, str]]] = {
    rubric: {category: answer for answer, categories in answers.items() for category in categories.split()}
    for rubric, answers in packaged_yaml(__package__, "moves.yaml").items()
}
"""What is asked about a move -> category of the move -> answer."""

_WAYS: Final = {"overcooked": kitchen_way, "collab_capture": capture_way}
"""Games with ways that can be blocked: by standing in them, by shutting doors."""

_PASSIVE: Final = frozenset({"wait", "stay_no_way", "aside", "deadly"})


def _category(game: Transcript, turn: TurnView, player: Player) -> tuple[str, str] | None:
    """The rule's category of a move, and what it saw; None where the player decided nothing."""
    action = turn.action_of(player)
    if action is None:
        return None
    kind = situation.game_of(game)
    if kind == "hanabi":
        hand = 0 if turn.state_before.get("player") == player else 1  # in `hanabi_state` the acting player has index 0
        return move_category(situation.hanabi_state(turn), hand, situation.hanabi_move(action), situation.hinted_cards(game, turn.turn))
    if kind == "overcooked":
        if not action.arguments.get("asked"):
            return None
        macro = str(action.arguments.get("macro"))
        category, seen = macro_category(situation.cookers_of(turn), macro)
        return category, seen or macro
    if kind == "collab_capture":
        state = situation.capture_state(turn)
        return capture.move_category(state, player, situation.capture_action(action), best_actions(state, first=turn.turn == 1)[player])
    return escape.move_category(situation.escape_state(turn), player, situation.escape_choices(turn))


def _by_category(answer: Callable[[str], str | None], *, clue: bool = False) -> Check:
    """The answer that a move's category gets; `clue`: about clues of Hanabi alone."""

    def check(game: Transcript, turn: int, agent: str | None) -> Decision:
        player = None if clue and situation.game_of(game) != "hanabi" else situation.player_named(agent)
        found = None if player is None else _category(game, game.turn(turn), player)
        if clue and (found is None or not found[0].startswith("clue")):
            return Decision("na", "no clue is given")
        return _NO_MOVE if found is None else Decision(answer(found[0]), found[1] if clue else f"{found[0]}: {found[1]}")

    return check


def _truth(game: Transcript, turn: int, agent: str | None) -> Decision:
    """EC1: the statements about the state that can be read are true."""
    player, now = situation.player_named(agent), game.turn(turn)
    if player is None:
        return _keyed("EC")(game, turn, agent)
    messages = [utterance.text for utterance in now.by_channel("private", player) if not utterance.superseded]
    if not messages:
        return Decision("na", "the player sends no message on this turn")
    found = [claim for text in messages for claim in situation.claims(situation.game_of(game), now, player, text)]
    false = [claim.text for claim in found if not claim.is_true]
    if false:
        return Decision("no", f"not so: {'; '.join(false)}")
    return Decision("yes", f"so: {'; '.join(c.text for c in found)}") if found else Decision(None, "no statement that a rule can read")


def _way_is_open(game: Transcript, turn: int, agent: str | None) -> Decision:
    player = situation.player_named(agent)
    if player is None or situation.game_of(game) not in _WAYS:
        return Decision("na", "no ways that could be blocked")
    return _WAYS[situation.game_of(game)](game.turn(turn), player)


def _is_safe(game: Transcript, turn: int, agent: str | None) -> Decision:
    """JP1: by what the player could know, the move cannot cost a life, a needed card or the game."""
    player, now = situation.player_named(agent), game.turn(turn)
    action = None if player is None else now.action_of(player)
    if player is None or action is None:
        return _NO_MOVE
    if situation.game_of(game) == "collab_escape":
        deadly = escape.is_deadly(situation.escape_state(now), player, situation.escape_choices(now)[player])
        return Decision(
            "no" if deadly else "yes", "the killer was known to come there" if deadly else "the killer was not known to come there"
        )
    if situation.game_of(game) != "hanabi":
        return Decision("na", "nothing can be lost by one move")
    move, state = situation.hanabi_move(action), situation.hanabi_state(now)
    if move.card is None:
        return Decision("na", "a clue puts nothing at risk")
    known = state.knowledge[0][move.card]
    seen = f"card {move.card} can be {known.colors} {known.ranks} by hints"
    possible = possible_cards(state, 0, move.card)
    if move.verb == "play":
        return _play_is_safe(situation.hinted_cards(game, turn), state, move.card, f"{seen}, less what lies open")
    is_last = bool(possible) and all(map(state.is_last, possible))
    seen += ", less what lies open the last copy of a card still needed" if is_last else ""
    return Decision("no" if is_last else "yes" if is_safe_discard(state, known) else None, seen)


def _play_is_safe(hinted: Container[int], state: HanabiState, card: int, seen: str) -> Decision:
    if is_known_playable(state, 0, card):
        return Decision("yes", seen)
    if card in hinted:
        return Decision(None, f"{seen}; a hint of the partner named it, which can be read as: play it")
    return Decision("no", seen)


def _own(check: Check) -> Check:
    """The check, undecided about an action that the harness chose because the reply named none."""

    def own(game: Transcript, turn: int, agent: str | None) -> Decision:
        chosen = None if agent is None else situation.harness_choice(game.turn(turn), agent)
        return check(game, turn, agent) if chosen is None else Decision(None, f"the action is the harness's: {chosen[1]}")

    return own


def _keyed(kind: str) -> Check:
    """An answer to CoordinationQA of a type: right by the corrected key, whatever the published scoring read."""

    def check(game: Transcript, turn: int, _agent: str | None) -> Decision:  # the face of a check
        now = game.turn(turn)
        if situation.game_of(game) != situation.QUESTIONS or now.state_before.get("type") != kind or game.goal is None:
            return Decision("na", f"no answer to a {kind} question")
        option = now.state_after.get("read_option")
        if option is None:
            return Decision("no", f"names no option ({game.details.get('read_kind')})")
        right = option in game.goal["correct_options"]
        return Decision("yes" if right else "no", f"names option {now.state_after.get('read_letter')}; key {game.goal['key']}")

    return check


_Named = Mapping[str, Callable[[Transcript, int, str | None], Decision]]

CHECKS: Final[_Named] = {
    "coordination.EC1": _truth,
    "coordination.EC2": _own(_by_category(_MOVES["environment"].get)),
    "coordination.TOM1": _own(_by_category(lambda category: "no" if category == "clue_redundant" else "yes", clue=True)),
    "coordination.TOM2": _own(_by_category(lambda category: "yes" if category == "clue_playable" else "no", clue=True)),
    "coordination.TOM3": _own(_way_is_open),
    "coordination.TOM4": _keyed("TOM"),
    "coordination.JP1": _own(_is_safe),
    "coordination.JP2": _own(_by_category(_MOVES["forward"].get)),
    "coordination.JP3": _own(_by_category(lambda category: None if category in _PASSIVE else _MOVES["active"].get(category, "yes"))),
    "coordination.JP4": _keyed("JP"),
}
"""Name -> check."""

TAXONOMIES: Final[Mapping[str, str | None]] = {"coordqa_answer": None}
"""Taxonomy of the rules -> its category for a turn in which several could hold and none does (`judges.checks`)."""
