"""Scripts that play LLM-Coordination.

Scripts among themselves (`ScriptedTeam`) see the whole state and remember, and their faults are planted labels. Scripts with others
(`SCRIPTS`) know the prompt alone: they read the situation back from it and play by a policy of the game.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, Final

from games.coordination.capture import CaptureState
from games.coordination.capture import listed as listed_room
from games.coordination.courses import capture, escape, hanabi, kitchen
from games.coordination.courses.agent import CoordinationGame, GameSetup, ScriptView, Table
from games.coordination.courses.kitchen import Pots, first_wish, wishes
from games.coordination.escape import GENERATORS, EscapeState, killer_options
from games.coordination.hanabi import COLOR_LETTERS, COLORS, PLAYERS_IN_ORDER, RANKS, HanabiState, Known, action_text, legal_moves, listed
from games.coordination.kitchen import LAYOUTS, ONIONS, Cook, Item, KitchenState, Spot, place_of
from games.coordination.players import PLANTED_QUESTIONS, PLAYERS, Player, ScriptDecision, graded, partner_of
from games.players.player import Observation
from games.players.setup import onset_of
from schemas.game import PlantedLabel, Turn

POLICIES: Final[Mapping[CoordinationGame, Sequence[str]]] = {
    "hanabi": tuple(hanabi.POLICIES),
    "overcooked": tuple(kitchen.POLICIES),
    "collab_capture": tuple(capture.POLICIES),
    "collab_escape": tuple(escape.POLICIES),
}
"""Game -> its scripts that remember."""

BEFORE_ONSET: Final[Mapping[CoordinationGame, str]] = {
    "hanabi": hanabi.FAULTLESS,
    "overcooked": "greedy",
    "collab_capture": capture.FAULTLESS,
    "collab_escape": escape.FAULTLESS,
}
"""Game -> who plays before turn 5 where `policy@5` plays; but for the kitchen it plays as well as one can."""


def _in_hanabi(script: str, state: HanabiState, player: Player, options: Sequence[str], rng: Random) -> ScriptDecision:
    move, reason, faults = hanabi.POLICIES[script](state, PLAYERS_IN_ORDER.index(player), player, rng)
    intended = next(option for option in options if option.endswith(action_text(move, player)))
    return ScriptDecision(intended=intended, explanation=reason, injected=faults)


def _in_capture(script: str, state: CaptureState, player: Player, _: Sequence[str], rng: Random) -> ScriptDecision:
    action, reason, faults = capture.POLICIES[script](state, player, rng)
    place = state.actions(player).index(action)
    return ScriptDecision(intended=listed_room(place, action), explanation=reason, injected=faults)


_DECIDE: Final[Mapping[CoordinationGame, Callable[[str, Any, Player, Sequence[str], Random], ScriptDecision]]] = {
    "hanabi": _in_hanabi,
    "overcooked": lambda script, seen, player, options, rng: kitchen.POLICIES[script](
        seen[0], seen[1], PLAYERS.index(player), tuple(options), rng
    ),
    "collab_capture": _in_capture,
    "collab_escape": lambda script, state, player, _, rng: escape.POLICIES[script](state, player, rng),
}


class ScriptedTeam:
    """Alice and Bob, each by a policy of the game."""

    stores_replies = True

    def __init__(self, at: GameSetup, table: Table) -> None:
        self._game, self._table = at.game, table
        self._layout = LAYOUTS.get(at.variant)
        self._onsets = {player: onset_of(at.taken[player], POLICIES[at.game], "policy") for player in PLAYERS}
        self._decided: dict[Player, ScriptDecision] = {}

    def answer(self, seen: Observation) -> str:
        """A reply as a model would write it."""
        player: Player = "Alice" if seen.agent == "Alice" else "Bob"
        script = self._onsets[player].at(seen.turn, BEFORE_ONSET[self._game])
        state = self._table.state if self._layout is None else (self._layout, self._table.state)
        self._decided[player] = _DECIDE[self._game](script, state, player, seen.options, self._table.rng)
        return self._decided[player].response

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on, the killer too."""
        self._table.rng.seed(seed)

    def known(self, turn: Turn) -> Turn:
        """The turn with the answers that follow from what its scripts did wrong on purpose."""
        labels = [
            PlantedLabel(rubric=rubric, question=question, agent=player, answer="no")
            for player, decision in self._decided.items()
            for rubric, question in (PLANTED_QUESTIONS[fault] for fault in decision.injected if fault in PLANTED_QUESTIONS)
        ]
        self._decided = {}
        return replace(turn, labels=labels)


_CARD: Final = re.compile(r"\[Card \d: (\w+) (\d)\]")
_KNOWN: Final = re.compile(r"could be: \[(.*?)\] \[(.*?)\]")
_COOKER: Final = re.compile(r"(c\d) contains (\d) out of 3 onions\. c\d is \w+\. soup in c\d is ([a-z ]+)\.")
_INTERPRETED: Final = {
    "hanabi": "Partner Action Explanation: my partner told me what to look at.\nClue Suggestion: none",
    "overcooked": "My partner goes on with the next soup.",
    "collab_capture": "My partner goes for the thief.",
    "collab_escape": "My partner goes for a generator.",
}


def _play(policy: Callable[[ScriptView], ScriptDecision], shown: ScriptView) -> str:
    if shown.purpose == "tom":
        return _INTERPRETED[shown.game]
    if shown.purpose == "verify":
        return "The action follows the rules and does not end the game. Verification: Okay"
    return policy(shown).response


def _hanabi(name: str, shown: ScriptView) -> ScriptDecision:
    player_index = PLAYERS_IN_ORDER.index(shown.player)
    state = _table(shown.text, shown.player, player_index)
    options = listed(legal_moves(state, player_index), shown.player)
    return _in_hanabi(name, state, shown.player, options, Random(f"hanabi-seat:{name}:{shown.text}"))


def _table(text: str, player: Player, player_index: int) -> HanabiState:
    """The table as a player reads of it; its own cards are blanks, since no policy looks at them."""
    partner = partner_of(player)
    own = [_known(line) for line in text.splitlines() if line.startswith("Card ")]
    theirs = [_known(line) for line in text.splitlines() if line.startswith(f"{partner} believes")]
    hand = tuple(f"{COLOR_LETTERS[color]}{rank}" for color, rank in _CARD.findall(text))
    blank = tuple("R1" for _ in own)
    tokens, lives, deck = (int(count) for count in re.findall(r"(?:Reveal Tokens|Remaining Lives|Deck Size): (\d+)", text))
    discards = re.search(r"discard pile is: \[(.*?)\]", text)
    return HanabiState(
        hands=(blank, hand) if player_index == 0 else (hand, blank),
        knowledge=(tuple(own), tuple(theirs)) if player_index == 0 else (tuple(theirs), tuple(own)),
        fireworks={COLOR_LETTERS[color]: int(rank) for color, rank in re.findall(r"\b(\w+) - \1 (\d)", text)},
        discards=tuple(discards[1].split(", ")) if discards and discards[1] else (),
        tokens=tokens,
        lives=lives,
        deck=deck,
    )


def _known(line: str) -> Known:
    """A card's knowledge; what is known of it counts as hinted where only one is left."""
    found = _KNOWN.search(line)
    assert found is not None, line
    colors = "".join(COLOR_LETTERS[name] for name in found[1].split(", "))
    ranks = "".join(found[2].split(", "))
    return Known(
        "".join(color for color in COLORS if color in colors),
        "".join(rank for rank in RANKS if rank in ranks),
        len(colors) == 1,
        len(ranks) == 1,
    )


def _capture(name: str, shown: ScriptView) -> ScriptDecision:
    text = shown.text
    rooms = {who: int(room) for who, room in re.findall(r"(Alice|Bob|Thief) (?:am|is) in room (\d)", text)}
    doors = {f"{first}-{second}": way == "open" for first, second, way in re.findall(r"room (\d) and room (\d) is (\w+)", text)}
    return _in_capture(name, CaptureState(rooms, doors), shown.player, (), Random(f"capture-seat:{name}:{text}"))


def _escape(name: str, shown: ScriptView) -> ScriptDecision:
    text, player = shown.text, shown.player
    partner = partner_of(player)
    own = re.search(r"I am in room (\d+)", text)
    rooms = {partner: 0, "Adversary": 0, **{who: int(room) for who, room in re.findall(rf"({partner}) is in room (\d+)", text)}}
    killer = re.search(r"killer is in room (\d+)", text)
    assert own is not None and killer is not None, text  # noqa: PT018 - one text
    rooms |= {player: int(own[1]), "Adversary": int(killer[1])}
    needs = {int(room): int(need) for room, need in re.findall(r"generator in room (\d+) needs (\d)", text)}
    match = re.search(r"will go to the room of (Alice|Bob)", text)
    target = next((known for known in PLAYERS if match and known == match[1]), None)
    state = EscapeState(rooms, {room: 2 - needs[room] for room in GENERATORS}, frozenset(PLAYERS), target)
    assert killer_options(state)[0].target == target, text
    return escape.POLICIES[name](state, player, Random(f"escape-seat:{name}:{text}"))


def _cook(shown: ScriptView, options: Sequence[str], rng: Random) -> ScriptDecision:
    """Takes the first of what moves a soup on; where the partner blocks the way, makes room."""
    text, cook = shown.text, PLAYERS.index(shown.player)
    pots = {name: (int(onions), soup) for name, onions, soup in _COOKER.findall(text)}
    wanting = [name for name, (onions, _) in pots.items() if onions < ONIONS]
    cooked = [name for name, (_, soup) in pots.items() if soup == "cooked"]
    cooking = [name for name, (_, soup) in pots.items() if soup == "still cooking"]
    lies = _PLATE_LIES.search(text) is not None
    wished = wishes(_hands(text, cook), cook, Pots(wanting, cooked, cooked or cooking), plate_lies=lies)
    return first_wish(
        wished,
        options,
        lambda option: re.search(rf"^{place_of(option)} is \d+ units away, but blocked", text, re.MULTILINE),
        rng,
        "There is nothing to do at once.",
    )


_PLATE_LIES: Final = re.compile(r"^s\d contains plate", re.MULTILINE)

_COOKS: Final[Mapping[str, Callable[..., ScriptDecision]]] = {
    "greedy": _cook,
    **graded(_cook, lambda _, options, rng: ScriptDecision(intended=rng.choice(options), explanation="Any action is fine.")),
}


def _kitchen(name: str, shown: ScriptView) -> ScriptDecision:
    actions = re.search(r"Available Actions:\s*\[(.*)\]", shown.text, re.DOTALL)
    assert actions is not None, shown.text
    return _COOKS[name](shown, actions[1].split(", "), Random(f"kitchen-seat:{shown.text}"))


def _hands(text: str, cook: int) -> KitchenState:
    """What both hold, as far as it is known."""
    items = {"onion": Item("onion"), "plate": Item("dish"), "soup in plate": Item("soup", ONIONS)}
    own = re.search(r"I am holding ([a-z ]+)\.", text)
    other = re.search(r"(?:Alice|Bob) is holding ([a-z ]+)\.", text)
    held = [items.get(found[1]) if found else None for found in (own, other)]
    return KitchenState(tuple(Cook(Spot(0, 0), "north", held[abs(number - cook)]) for number in range(len(PLAYERS))), {})


def _scripts(game: Callable[[str, ScriptView], ScriptDecision], names: Sequence[str]) -> dict[str, Callable[[Any], str]]:
    return {name: partial(_play, partial(game, name)) for name in names}


SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {
    "hanabi": _scripts(_hanabi, tuple(hanabi.POLICIES)),
    "overcooked": _scripts(_kitchen, tuple(_COOKS)),
    "collab_capture": _scripts(_capture, tuple(capture.POLICIES)),
    "collab_escape": _scripts(_escape, tuple(name for name in escape.POLICIES if name != escape.FAULTLESS)),
}
"""Game -> script -> policy over what is shown."""
