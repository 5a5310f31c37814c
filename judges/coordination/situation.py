"""The stored states of LLM-Coordination as the games' own objects, and statements about them that a rule can read and check.

Each game has a list of forms: a pattern, and what makes it true. A sentence counts up to its first word that makes it a plan, a guess or a
condition. Other text is left alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from games.coordination import escape
from games.coordination.capture import Action, CaptureState, distance
from games.coordination.escape import EscapeState
from games.coordination.hanabi import COLOR_NAMES, HanabiState, Known, Move, Verb, newly_named, possible_cards
from games.coordination.kitchen import COOKING_TICKS, LAYOUTS, ONIONS, Cook, Item, KitchenState, Layout, Spot, cookers, is_cooked
from games.coordination.players import HARNESS_READS, PLAYERS, READS, Player, partner_of
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
    """Hanabi: cards of the acting player that its partner's move just before reported something new about."""
    if turn == 1:
        return ()
    before = game.turn(turn - 1)
    action = before.action_of(before.state_before.get("player"))
    return () if action is None else newly_named(hanabi_state(before), 0, hanabi_move(action))


def hinted_cards(game: Transcript, turn: int) -> frozenset[int]:
    """Hanabi: cards of the acting player that a hint has named, just before or earlier: playing one may follow that hint."""
    held = hanabi_state(game.turn(turn)).knowledge[0]
    return frozenset(place for place, known in enumerate(held) if known.color_hinted or known.rank_hinted) | set(clued_cards(game, turn))


def hanabi_state(turn: TurnView) -> HanabiState:
    """The table before a turn, the acting player first."""
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
    """What is in each cooker before a tick, or before a decision in a player's own file, which has only whether a soup is cooked."""
    reported = turn.state_before.get("cookers")
    if reported is None:
        return cookers(*kitchen_state(turn))
    return {name: _soup(cooker) if cooker["onions"] else None for name, cooker in reported.items()}


def held_of(turn: TurnView) -> dict[Player, str]:
    """What each cook holds: onion, dish, soup or nothing; a player's own file may not tell of the partner."""
    reported = turn.state_before.get("held")
    if reported is not None:
        return {player: _thing(reported[player]) for player in PLAYERS if player in reported}
    _, state = kitchen_state(turn)
    return {player: cook.held.name if cook.held else "nothing" for player, cook in zip(PLAYERS, state.cooks, strict=True)}


def lying_at(turn: TurnView, name: str) -> str | None:
    """What lies at a named counter such as `s0`, in the same words; None where the log does not tell."""
    reported = turn.state_before.get("counters")
    if reported is not None:
        return _thing(reported[name]) if name in reported else None
    layout, state = kitchen_state(turn)
    if name not in layout.names:
        return None
    found = state.objects.get(layout.names[name])
    return found.name if found else "nothing"


def _thing(words: str) -> str:
    """A player's own file states `plate`, `soup in plate`, `empty`."""
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


_LETTERS: Final = {name.lower(): letter for letter, name in COLOR_NAMES.items()}
_COLOR: Final = "red|yellow|green|white|blue"
_FLAGS: Final = re.IGNORECASE

_CARD: Final = re.compile(rf"\b(Alice|Bob)(?:'?s)? card (\d) (?:is|=|:) (?:an? |the )?({_COLOR}) ([1-5])\b", _FLAGS)
_OWN: Final = re.compile(rf"\bmy card (\d) (?:can only|must) be ((?:{_COLOR})(?:(?:/|, | or |, or )(?:{_COLOR}))*) ([1-5])\b", _FLAGS)
_NEXT: Final = re.compile(rf"\b({_COLOR}) ([1-5]),? (?:which |that )?(?:is|goes|comes) next on the ({_COLOR}) stack", _FLAGS)
_STACK: Final = re.compile(rf"\b(?:the )?({_COLOR}) stack is (?:currently )?(?:at )?([0-5])\b", _FLAGS)
_EMPTY_STACK: Final = re.compile(rf"\bthe ({_COLOR}) stack is (?:still )?empty", _FLAGS)
_TOKENS: Final = re.compile(r"\b(?:we|there) (?:have|are|is) (?:only )?(\d|no) (?:(?:reveal|information|clue|hint) )?tokens?\b", _FLAGS)
_LIVES: Final = re.compile(r"\b(?:we|there) (?:have|are|is) (?:only )?([0-3]) (?:life tokens?|li(?:fe|ves))\b", _FLAGS)
_DECK: Final = re.compile(r"\b(?:the )?deck (?:has|size is) (\d{1,9})\b", _FLAGS)
_UNKNOWN: Final = re.compile(
    rf"\b(Alice|Bob)(?:'?s)? card (\d) is (?:{_COLOR}) [1-5]\b.*?\b\1 (does not|doesn't) (?:yet )?know its (rank|colou?r)", _FLAGS
)

_Form = tuple[re.Pattern[str], Callable[[re.Match[str]], bool | None]]


def _hanabi_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    """The forms for the player whose turn it is; no one sees the own cards, so of them only what hints and open cards allow is checked."""
    state, partner = hanabi_state(turn), partner_of(player)

    def card(match: re.Match[str]) -> bool | None:
        hand, place = state.hands[1], int(match[2])
        return hand[place] == _card(match[3], match[4]) if match[1].title() == partner and place < len(hand) else None

    def own(match: re.Match[str]) -> bool | None:
        place = int(match[1])
        named = {_card(color, match[3]) for color in re.findall(_COLOR, match[2].lower())}
        return set(possible_cards(state, 0, place)) <= named if place < len(state.knowledge[0]) else None

    def unknown(match: re.Match[str]) -> bool | None:
        place = int(match[2])
        if match[1].title() != partner or place >= len(state.knowledge[1]):
            return None
        known = state.knowledge[1][place]
        return len(known.ranks if match[4] == "rank" else known.colors) > 1

    def tokens(match: re.Match[str]) -> bool:
        return state.tokens == (0 if match[1] == "no" else int(match[1]))

    return (
        (_CARD, card),
        (_OWN, own),
        (_UNKNOWN, unknown),
        (_NEXT, lambda match: match[1].lower() == match[3].lower() and state.fits(_card(match[1], match[2]))),
        (_STACK, lambda match: state.fireworks[_LETTERS[match[1].lower()]] == int(match[2])),
        (_EMPTY_STACK, lambda match: state.fireworks[_LETTERS[match[1].lower()]] == 0),
        (_TOKENS, tokens),
        (_LIVES, lambda match: state.lives == int(match[1])),
        (_DECK, lambda match: state.deck == int(match[1])),
    )


def _card(color: str, rank: str) -> str:
    return f"{_LETTERS[color.lower()]}{rank}"


_THING: Final = r"(nothing|(?:an? )?onion|(?:an? )?plate|(?:an? )?dish|(?:an? )?(?:cooked )?soup(?: (?:in|on) (?:a )?plate)?)"

_COOKER: Final = re.compile(r"\b(c\d)\.? is (?:still |already |now )?(not full|empty|full|off|on|cooking|cooked|ready)\b", _FLAGS)
_SOUP: Final = re.compile(r"\bsoup in (c\d) is (?:still |already |now )?(not cooking|not ready|cooking|cooked|ready)\b", _FLAGS)
_HOLDS_SOUP: Final = re.compile(r"\b(c\d) holds a cooked soup\b", _FLAGS)
_ONIONS: Final = re.compile(r"\b(c\d) (?:already )?(?:has|contains|holds) ([0-3]|no)(?: out of 3)? onions?\b", _FLAGS)
_NEEDS: Final = re.compile(r"\b(c\d)\.? (?:still )?needs (?:([1-3]) )?(?:more )?(?:an )?onions?\b", _FLAGS)
_HOLD: Final = re.compile(rf"\bI (?:am (?:currently )?holding|hold) {_THING}", _FLAGS)
_PARTNER_HOLDS: Final = re.compile(rf"\b(Alice|Bob) (?:is (?:currently )?holding|holds) {_THING}", _FLAGS)
_LYING: Final = re.compile(r"\b([sk]\d+) (?:is (empty)|(?:contains|holds|has) (?:an? )?(onion|plate|dish|soup))", _FLAGS)
_ALL_FULL: Final = re.compile(r"\b(?:all|both)(?: the)? cookers are full\b", _FLAGS)
_NONE_READY: Final = re.compile(r"\bno soup is (?:ready|cooked)\b", _FLAGS)
_ONE_READY: Final = re.compile(r"^(?:\w+: )?(?:a|the) soup is (?:already )?(?:cooked|ready)\b", _FLAGS)
_ONE_COOKING: Final = re.compile(r"^(?:\w+: )?(?:a|the) soup is (?:still )?cooking\b", _FLAGS)
_MORE: Final = re.compile(r"\b(?:the )?cookers? (?:still )?needs? more onions\b", _FLAGS)


def _kitchen_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    pots = {name.lower(): soup for name, soup in cookers_of(turn).items()}

    def about(truth: Callable[[Item | None, re.Match[str]], bool]) -> Callable[[re.Match[str]], bool | None]:
        """A statement about the cooker that the match names; None if there is no such cooker."""
        return lambda match: truth(pots[match[1].lower()], match) if match[1].lower() in pots else None

    def needs(soup: Item | None, match: re.Match[str]) -> bool:
        missing = ONIONS - _onions(soup)
        return missing > 0 if match[2] is None else missing == int(match[2])

    def holds(who: Player, thing: str) -> bool | None:
        held = held_of(turn)
        return None if who not in held else held[who] == _named_thing(thing)

    def lying(match: re.Match[str]) -> bool | None:
        found = lying_at(turn, match[1].lower())
        return None if found is None else found == ("nothing" if match[2] else _named_thing(match[3]))

    full = [_onions(soup) == ONIONS for soup in pots.values()]
    cooked = [is_cooked(soup) for soup in pots.values()]
    cooking = [is_full and not is_done for is_full, is_done in zip(full, cooked, strict=True)]
    return (
        (_COOKER, about(lambda soup, match: _is(soup, match[2].lower()))),
        (_SOUP, about(lambda soup, match: _is(soup, match[2].lower()))),
        (_HOLDS_SOUP, about(lambda soup, _: is_cooked(soup))),
        (_ONIONS, about(lambda soup, match: _onions(soup) == (0 if match[2].lower() == "no" else int(match[2])))),
        (_NEEDS, about(needs)),
        (_HOLD, lambda match: holds(player, match[1])),
        (_PARTNER_HOLDS, lambda match: holds(player if match[1].title() == player else partner_of(player), match[2])),
        (_LYING, lying),
        (_ALL_FULL, lambda _: all(full)),
        (_NONE_READY, lambda _: not any(cooked)),
        (_ONE_READY, lambda _: any(cooked)),
        (_ONE_COOKING, lambda _: any(cooking)),
        (_MORE, lambda _: not all(full)),
    )


def _onions(soup: Item | None) -> int:
    return 0 if soup is None else soup.onions


def _is(soup: Item | None, word: str) -> bool:
    """A cooker is on while its soup cooks, and goes off when that is done."""
    cooked, full = is_cooked(soup), _onions(soup) == ONIONS
    return {
        "empty": soup is None,
        "full": full,
        "not full": not full,
        "on": full and not cooked,
        "off": not full or cooked,
        "cooking": full and not cooked,
        "not cooking": not full or cooked,
        "cooked": cooked,
        "ready": cooked,
        "not ready": not cooked,
    }[word]


def _named_thing(words: str) -> str:
    """`onion`, `dish`, `soup` or `nothing`."""
    last = words.lower()
    if "soup" in last:
        return "soup"
    return "dish" if "plate" in last else last.split()[-1]


_IN: Final = r"(not )?(?:currently |now |still |located |already )*in room (\d{1,9})\b"

_SOMEBODY: Final = re.compile(rf"\b(?:the )?(Alice|Bob|thief|killer|adversary) is {_IN}", _FLAGS)
_MYSELF: Final = re.compile(rf"\b(I) (?:\((?:Alice|Bob)\) )?am {_IN}", _FLAGS)
_HUNTED: Final = re.compile(r"\b(?:to|on) the (thief|killer) in room (\d{1,9})\b", _FLAGS)
_DOOR: Final = re.compile(
    r"\bdoor (?:between )?(?:room )?([13])(?:-| and )(?:room )?([24]) is (?:currently |still |already )?(open|closed)\b", _FLAGS
)
_NO_WAY: Final = re.compile(r"\bthere is no open (?:path|way) from room (\d) to (?:the thief in )?room (\d)\b", _FLAGS)
_HEADING: Final = re.compile(r"\b(?:the )?killer is (?:heading|moving|going) (?:to|towards) room (\d{1,9})\b", _FLAGS)
_GENERATOR: Final = re.compile(
    r"\bgenerator in room (\d{1,9}) (?:has (?:already )?(not been touched|been fixed)|is (?:already |still )?(fixed|not fixed)|"
    r"(still needs work)|(?:still )?needs (?:only )?(\d|one|two|no) more (?:fix(?:es)?|repairs?))",
    _FLAGS,
)
_GATE: Final = re.compile(r"\bexit (?:gate )?is (?:currently |still |already |now )?(open|closed)\b", _FLAGS)
_NEAR: Final = re.compile(r"\broom (\d{1,9}) is next to the killer\b", _FLAGS)
_COUNTS: Final = {"no": 0, "one": 1, "two": 2}


def _places(rooms: Mapping[str, int], player: Player) -> Sequence[_Form]:
    names = {name.lower(): room for name, room in rooms.items()} | {"i": rooms[player]}
    names |= {"killer": names["adversary"]} if "adversary" in names else {}

    def where(match: re.Match[str]) -> bool | None:
        room = names.get(match[1].lower())
        return None if room is None else (room == int(match[3])) != bool(match[2])

    return (
        (_SOMEBODY, where),
        (_MYSELF, where),
        (_HUNTED, lambda match: names[match[1].lower()] == int(match[2]) if match[1].lower() in names else None),
    )


def _capture_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    state = capture_state(turn)

    def door(match: re.Match[str]) -> bool | None:
        is_open = state.doors.get(f"{match[1]}-{match[2]}")
        return None if is_open is None else is_open == (match[3].lower() == "open")

    return (
        *_places(state.rooms, player),
        (_DOOR, door),
        (_NO_WAY, lambda match: distance(state, int(match[1]), int(match[2])) is None),
    )


def _escape_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    state = escape_state(turn)

    def heading(match: re.Match[str]) -> bool | None:
        return None if state.target is None else state.rooms[state.target] == int(match[1])

    def generator(match: re.Match[str]) -> bool | None:
        counter = state.generators.get(int(match[1]))
        if counter is None:
            return None
        missing, (touched, fixed, needs, count) = max(0, escape.FIXES_NEEDED - counter), match.groups()[1:]
        if count is not None:
            return missing == _COUNTS.get(count.lower(), int(count) if count.isdecimal() else -1)
        if touched is not None:
            return counter == 0 if touched.lower().startswith("not") else missing == 0
        return missing > 0 if needs or fixed.lower().startswith("not") else missing == 0

    return (
        *_places(state.rooms, player),
        (_HEADING, heading),
        (_GENERATOR, generator),
        (_GATE, lambda match: state.gate_open == (match[1].lower() == "open")),
        (_NEAR, lambda match: int(match[1]) in escape.ROOMS[state.rooms["Adversary"]]),
    )


_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'])|\n")
_ACTION: Final = re.compile(r"\s*\**Action\b", re.IGNORECASE)
_HEDGE: Final = re.compile(
    r"\b(?:if|would|could|might|may|will|'ll|should|suppos\w+|assum\w+|unless|until|once|when|whether|likely|probably|perhaps|maybe|"
    r"believes?|thinks?|guess|hop(?:e|ing)|wants?|was|were|had|after|then|so that|make sure|ensures?|expect\w*|predict\w*|chose|"
    r"next turn)\b",
    re.IGNORECASE,
)

_FORMS: Final[Mapping[str, Callable[[TurnView, Player], Sequence[_Form]]]] = {
    "hanabi": _hanabi_forms,
    "overcooked": _kitchen_forms,
    "collab_capture": _capture_forms,
    "collab_escape": _escape_forms,
}
"""Game -> its forms for a turn and a player: pattern, and whether what it matched is true; None where the state does not tell."""


class Statement(NamedTuple):
    """A statement."""

    text: str
    is_true: bool


def claims(game: str, turn: TurnView, player: Player, text: str) -> list[Statement]:
    """The statements that can be checked, in the order of the forms."""
    if game not in _FORMS:
        return []
    messages = list(_statements(text))
    return [
        Statement(match[0].strip(), is_true)
        for pattern, truth in _FORMS[game](turn, player)
        for sentence in messages
        for match in pattern.finditer(sentence)
        if (is_true := truth(match)) is not None
    ]


def _statements(text: str) -> Iterator[str]:
    """Sentences without the chosen action, each up to its first word that makes it no statement of fact."""
    for sentence in _SENTENCE.split(text):
        if _ACTION.match(sentence) or sentence.rstrip().endswith("?"):
            continue
        hedge = _HEDGE.search(sentence)
        yield sentence[: hedge.start()] if hedge else sentence
