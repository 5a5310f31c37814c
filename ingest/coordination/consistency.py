"""What the step logs of LLM-Coordination say twice, or of two turns in a row, and where the two differ.

What replay gives is compared where each game is replayed. A field that a log does not have is not compared.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, cast

from msgspec import to_builtins

from games.coordination.capture import TURN_LIMIT
from games.coordination.escape import FIXES_NEEDED
from games.coordination.hanabi import COLOR_NAMES, DECK
from games.coordination.kitchen import HELD_NAMES
from games.coordination.players import PLAYERS, Player, partner_of
from ingest.coordination.game import PRINTED_ON_FAILURE, GameParts, differences
from ingest.coordination.records import (
    MOST_FACTS,
    CaptureStep,
    EscapeStep,
    HanabiStep,
    KitchenStep,
    Step,
    TableRecord,
)
from ingest.reading.adapter_types import Difference

_CAPTURE: Final = re.compile(
    r"I (Alice|Bob) am in room (\d)\. (?:Alice|Bob) is in room (\d)\. Thief is in room (\d)\. "
    r"Door between room 1 and room 2 is (open|closed)\. Door between room 3 and room 4 is (open|closed)\."
)
_ESCAPE: Final = re.compile(
    r"My name is (Alice|Bob)\. I am in (room \d+)\. (?:Alice|Bob) is in (room \d+)\..*?killer is (?:currently located )?in (room \d+)"
    r".*?The exit gate is (open|closed)\.",
    re.DOTALL,
)
_HANABI: Final = re.compile(r"Remaining Reveal Tokens: (\d+)\s+Remaining Lives: (\d+)\s+Deck Size: (\d+)")
_STACK: Final = re.compile(r"\b([A-Z][a-z]+) - \1 (\d)")
_CARD: Final = re.compile(r"\[Card \d: ([A-Z])[a-z]+ (\d)\]")
_HOLDING: Final = re.compile(r"I am holding ([a-z ]+)\. (?:Alice|Bob) is holding ([a-z ]+)\.")
_BOTH: Final = frozenset(PLAYERS)


def capture_texts(step: CaptureStep) -> Iterator[Difference]:
    """Rooms and doors."""
    rooms, doors = step.rooms_before, [("open" if step.doors_before[door] else "closed") for door in ("1-2", "3-4")]
    for player in step.players:
        name = player.player
        due = (name, *(str(rooms[who]) for who in (name, partner_of(name), "Thief")), *doors)
        yield from _differing(name, _CAPTURE, player.observation_text, due)


def escape_texts(step: EscapeStep) -> Iterator[Difference]:
    """Rooms and the exit gate."""
    rooms = step.rooms_before
    for player in step.players:
        name = player.player
        due = (name, rooms[name], rooms[partner_of(name)], rooms["Adversary"], "open" if step.exit_gate_before else "closed")
        yield from _differing(name, _ESCAPE, player.observation_text, due)


def hanabi_texts(step: HanabiStep) -> Iterator[Difference]:
    """Tokens, lives, deck, stacks and the partner's cards."""
    table, text = step.state_before, step.observation_text or ""
    counts = tuple(map(str, (table.information_tokens, table.life_tokens, table.deck_size)))
    yield from _differing(step.player, _HANABI, text, counts)
    stacks = dict(_STACK.findall(text))
    due = {COLOR_NAMES[color]: str(rank) for color, rank in table.fireworks.items()}
    cards = ["".join(card) for card in _CARD.findall(text)]
    hand = table.hands.get(partner_of(step.player), [])
    for shown, there in ((stacks, due), (cards, hand)):
        if shown:
            yield from differences({f"{step.player}.observation_text": (shown, there)})


def kitchen_texts(step: KitchenStep) -> Iterator[Difference]:
    """What both hold, where the text has both."""
    shown = [action for action in step.actions if action.observation_text]
    if not shown:
        return
    held: dict[Player, str] = {cook.name: "nothing" if cook.held is None else HELD_NAMES[cook.held.name] for cook in step.players}
    for action in shown:
        if held.keys() == _BOTH:
            due = (held[action.player], held[partner_of(action.player)])
            yield from _differing(action.player, _HOLDING, action.observation_text, due)


def _differing(player: Player, wording: re.Pattern[str], text: str | None, due: tuple[str, ...]) -> Iterator[Difference]:
    shown = _shown(wording, text or "")
    yield from differences({f"{player}.observation_text": (due if shown is None else shown, due)})


@lru_cache(maxsize=1024)  # who is where comes again, and so do the words for it
def _shown(wording: re.Pattern[str], text: str) -> tuple[str | None, ...] | None:
    found = wording.search(text)
    return None if found is None else found.groups()


_LIFELESS: Final = 0
"""Score that the published engine gives a game whose lives are lost."""


def compared(game: Callable[[Any], GameParts], steps: Sequence[Step]) -> GameParts:
    """The game that steps make, with what they contradict each other in among the differences of its turns.

    Raises:
        BadInputError: they make none.
    """
    parts = game(steps)
    for turn, found in zip(parts.turns, contradictions(steps), strict=True):
        if found:
            turn.differences = [*turn.differences, *found]
    return parts


def contradictions(steps: Sequence[Step]) -> list[list[Difference]]:
    """What cannot all be true, by turn."""
    first, last = steps[0], steps[-1]
    found = [[*_of_line(step, last=step is last, first=first), *_OF_STEP[type(step)](step)] for step in steps]
    for place, (before, step) in enumerate(pairwise(steps), start=1):
        found[place] += _OF_PAIR[type(step)](before, step)
    for place, difference in _of_policies(steps):
        found[place].append(difference)
    return found


_GAMES: Final = {HanabiStep: "hanabi", KitchenStep: "overcooked", CaptureStep: "collab_capture", EscapeStep: "collab_escape"}


_OF_THE_GAME: Final[Mapping[type, Sequence[str]]] = {
    HanabiStep: ("seed",),
    KitchenStep: ("layout",),
    CaptureStep: ("scenario",),
    EscapeStep: ("seed", "scenario"),
}
"""What every line states alike."""


def _of_line(step: Step, *, last: bool, first: Step) -> Sequence[Difference]:
    pairs: dict[str, tuple[Any, Any]] = {name: (getattr(step, name), getattr(first, name)) for name in _OF_THE_GAME[type(step)]}
    pairs["terminal"] = (bool(step.terminal) and not last, False)
    pairs["game"] = (_GAMES[type(step)] if step.game is None else step.game, _GAMES[type(step)])
    return differences(pairs)


def _of_policies(steps: Sequence[Step]) -> Iterator[tuple[int, Difference]]:
    """Players that are somebody else in a later turn, with the turn's place."""
    known: dict[Player, tuple[str | None, str | None]] = {}
    of_step = _POLICIES[type(steps[0])]
    for place, step in enumerate(steps):
        for player, policy in of_step(step):
            if known.setdefault(player, policy) != policy:
                yield place, Difference(f"{player}.policy", repr(policy), repr(known[player]))


_Who = list[tuple[Player, tuple[str | None, str | None]]]
"""Policy and style of the players that a line tells of."""


def _of_room(step: CaptureStep | EscapeStep) -> _Who:
    return [(player.player, (player.policy, player.style)) for player in step.players]


_POLICIES: Final[Mapping[type, Callable[[Any], _Who]]] = {
    HanabiStep: lambda step: [(step.player, (step.policy, step.style))],
    KitchenStep: lambda step: [(action.player, (action.policy, None)) for action in step.actions if action.policy is not None],
    CaptureStep: _of_room,
    EscapeStep: _of_room,
}


# -- Hanabi -------------------------------------------------------------------------------------------------------------------------------


def _of_hanabi(step: HanabiStep) -> Iterator[Difference]:
    stages = [call.stage for call in step.calls]
    after = step.state_after
    stacked = sum(after.fireworks.values())
    pairs: dict[str, tuple[Any, Any]] = {"seat": (step.seat, (step.turn - 1) % 2)}
    if step.n_generator_calls is not None:
        pairs["n_generator_calls"] = (step.n_generator_calls, stages.count("generator"))
    if "verifier" in stages:
        unverified = stages[-1] == "generator"  # as many rejections as the limit allows, then a choice that counts
        pairs["n_rejections"] = (step.n_rejections, stages.count("verifier") - (not unverified))
    if step.fireworks_sum is not None:
        pairs["fireworks_sum"] = (step.fireworks_sum, stacked)
    if step.engine_score is not None:
        pairs["engine_score"] = (step.engine_score, stacked if after.life_tokens else _LIFELESS)
    if step.legal_actions:
        pairs["selected_action"] = (step.selected_action.lower() in map(str.lower, step.legal_actions), True)
    yield from differences(pairs)
    yield from hanabi_texts(step)
    for when, table in (("before", step.state_before), ("after", after)):
        yield from differences({f"state_{when}.cards": (_more_than_the_deck(table) or None, None)})


def _more_than_the_deck(table: TableRecord) -> dict[str, int]:
    """Cards that lie open more often than the deck has them."""
    stacked = (f"{color}{rank}" for color, height in table.fireworks.items() for rank in range(1, height + 1))
    seen = Counter([*table.discard_pile, *stacked, *(card for hand in table.hands.values() for card in hand)])
    return dict(seen - Counter(DECK))


def _hanabi_chain(before: HanabiStep, step: HanabiStep) -> Sequence[Difference]:
    """The table stays as it was left, and the players take turns."""
    was, now = to_builtins(before.state_after), to_builtins(step.state_before)
    pairs = {f"state_before.{name}": (value, was[name]) for name, value in now.items()}
    return differences(pairs | {"player": (step.player == before.player, False)})


# -- kitchen ------------------------------------------------------------------------------------------------------------------------------


def _of_kitchen(step: KitchenStep) -> Iterator[Difference]:
    places = [tuple(found.position) for found in step.objects]
    pairs: dict[str, tuple[Any, Any]] = {"objects": (places, list(dict.fromkeys(places)))}
    if step.tick == 0:
        pairs["score"] = (step.score, step.sparse_reward)
    for action in step.actions:
        if action.selected is not None and action.current_macro is not None:
            pairs[f"{action.player}.current_macro"] = (action.current_macro, action.selected)
        pairs[f"{action.player}.new_macro"] = (action.new_macro, action.response is not None or action.selected is not None)
    yield from (*differences(pairs), *kitchen_texts(step))


def _kitchen_chain(before: KitchenStep, step: KitchenStep) -> Sequence[Difference]:
    """Points add up, and a player who was not asked goes on with its macro."""
    both = zip(before.actions, step.actions, strict=True)
    macros = {f"{now.player}.current_macro": (now.current_macro, was.current_macro) for was, now in both if not now.new_macro}
    return differences({"score": (step.score, before.score + step.sparse_reward), **macros})


# -- rooms --------------------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=MOST_FACTS)
def _of_capture(step: CaptureStep) -> Sequence[Difference]:
    pairs: dict[str, tuple[Any, Any]] = {"captured": (step.captured, step.capture_kind is not None)}
    pairs["terminal"] = (step.terminal, step.captured or step.turn >= TURN_LIMIT)
    for player in step.players:
        if player.grounding_ok is not None and player.intended is not None:
            pairs[f"{player.player}.grounding_ok"] = (player.grounding_ok, player.executed in player.intended)
    if step.buttons_pressed is not None:
        pressing = [player.player for player in step.players if player.executed.startswith("Press")]
        pairs["buttons_pressed"] = (list(step.buttons_pressed), pressing)
    if step.turns_printed is not None:
        pairs["turns_to_completion"] = (step.turns_printed, step.turn if step.captured else PRINTED_ON_FAILURE)
    return (*differences(pairs), *capture_texts(step))


@lru_cache(maxsize=MOST_FACTS)
def _of_escape(step: EscapeStep) -> Sequence[Difference]:
    pairs: dict[str, tuple[Any, Any]] = {
        "terminal": (step.terminal, step.outcome != "continue"),
        "exit_gate_before": (step.exit_gate_before, min(step.generators_before.values()) >= FIXES_NEEDED),
    }
    if step.generators_fixed is not None:
        pairs["generators_fixed"] = (step.generators_fixed, {room: fixes >= FIXES_NEEDED for room, fixes in step.generators_after.items()})
    return (*differences(pairs), *escape_texts(step))


def _stays(*names: str) -> Callable[[Any, Any], Sequence[Difference]]:
    """What a turn begins with is what the one before has left."""
    return lambda before, step: differences(
        {f"{name}_before": (getattr(step, f"{name}_before"), getattr(before, f"{name}_after")) for name in names}
    )


_OF_STEP: Final = cast(
    "Mapping[type, Callable[[Step], Iterable[Difference]]]",
    {HanabiStep: _of_hanabi, KitchenStep: _of_kitchen, CaptureStep: _of_capture, EscapeStep: _of_escape},
)
_OF_PAIR: Final = cast(
    "Mapping[type, Callable[[Step, Step], Iterable[Difference]]]",
    {HanabiStep: _hanabi_chain, KitchenStep: _kitchen_chain, CaptureStep: _stays("rooms", "doors"), EscapeStep: _stays("generators")},
)
