"""Scripted players: what each knows, and, as data, what each persona does differently from the one that plays well.

================= =========================================================================================
sharing           states all it knows every turn, believes the partner, corrects only what differs
piecewise         the same, but states one piece a turn
ignoring          states all, but never acts on what it reads
overcorrecting    makes an entry wrong that was right, fixes it on its next turn, and so on
misreading        takes what it hears for something else: places shifted by one, colors swapped
format_breaking   every other answer has no JSON, or has actions that are not valid
silent            never writes anything, but reads
guessing          states what it cannot know, as if it knew
rewriting         writes all it knows every turn, also what is there already
presuming         speaks as if its partner saw its actions, and tells nothing
misinforming      states all, but exchanges two shapes (A) or two colors (B) of its clues
================= =========================================================================================
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.game import PuzzleView
from games.asympuzl.puzzle import COLORS, Agent, Entry, Vocabulary, other
from games.players.setup import onset_of, unmended

_ORDER_HEADS: Final = ("Order of shapes:", "My positions:", "From position 1 on I have", "Here is the right order:")
_NUMBERED: Final = ("{place} {shape}", "{place}: {shape}", "position {place} is the {shape}", "position {place} = {shape}")
_COLOR_HEADS: Final = ("The pairs are", "Colors:", "What I know:", "These belong together:")
_PAIRED: Final = ("{shape} {color}", "{color} {shape}", "{shape} = {color}", "the {shape} is {color}", "{shape}: {color}")
_SEEN: Final = ("As you can see, I have filled in what I know.", "Just look at my hypothesis.", "My actions show you what I have.")
_QUESTIONS: Final = ("Which colors do they have?", "What are the colors?", "Please tell me the color of each shape.")


def tell_order(shapes: Sequence[tuple[int, str]], rng: random.Random) -> str:
    """Positions, from 1, with their shapes."""
    form = rng.choice(_NUMBERED)
    return f"{rng.choice(_ORDER_HEADS)} {', '.join(form.format(place=place, shape=shape) for place, shape in shapes)}."


def tell_colors(entries: Sequence[Entry], rng: random.Random) -> str:
    """Shapes with their colors, places left out."""
    form = rng.choice(_PAIRED)
    return f"{rng.choice(_COLOR_HEADS)} {', '.join(form.format(shape=entry.shape, color=entry.color) for entry in entries)}."


class Mind:
    """The knowledge of one player: it learns only from what it is shown."""

    def __init__(self, agent: Agent, clues: Sequence[Entry]) -> None:
        self.agent: Agent = agent
        self.size = len(clues)
        self.shapes = tuple(entry.shape for entry in clues)
        self.order: dict[int, str] = dict(enumerate(self.shapes, start=1)) if agent == "A" else {}
        """Position from 1 -> shape, as far as known."""

        self.colors: dict[str, str] = {entry.shape: entry.color for entry in clues if entry.color is not None}
        """Shape -> color, as far as known."""

        own = frozenset(self.colors.values())
        self._words = Vocabulary(frozenset(self.shapes), own or frozenset(COLORS), self.size)  # A cannot know which colors are in play

    def hear(self, seen: PuzzleView) -> Facts:
        """What the partner's latest message states; nothing where there is none."""
        partner = other(self.agent)
        messages = [heard.text for heard in seen.conversation if heard.agent == partner]
        return read_facts(messages[-1], self._words, partner) if messages else Facts()

    def learn(self, order: Mapping[int, str], colors: Mapping[str, str]) -> None:
        """Take statements over; an earlier one gives way. No one gives up what its clues show."""
        if self.agent == "A":
            self.colors |= colors
        else:
            self.order |= order

    def entry(self, place: int) -> Entry | None:
        """The entry at a position, from 1; None as long as shape and color are not both known."""
        shape = self.order.get(place)
        color = None if shape is None else self.colors.get(shape)
        return None if shape is None or color is None else Entry(shape, color)


FAULTLESS: Final = "sharing"
"""Who plays before the turn from which `persona@turn` falls into its fault."""

Write = tuple[int, Entry]
"""A position, from 1, and what is written there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A scripted player."""

    say: Callable[[Mind, PuzzleView, random.Random], str]
    learn: Callable[[Mind, Facts], None]
    write: Callable[[Mind, PuzzleView, random.Random], Sequence[Write]]
    form: Callable[[str, Sequence[Write], int, random.Random], str]
    """Message, writes and turn -> the answer as text."""


class PersonaPlayer:
    """A persona in a game. The same seed, the same player."""

    def __init__(self, persona: str, agent: Agent, clues: Sequence[Entry], *, seed: int) -> None:
        self._onset = onset_of(persona, PERSONAS, "asympuzl persona")
        self._mind = Mind(agent, clues)
        self._rng = random.Random(f"asympuzl-player:{unmended(persona)}:{agent}:{len(clues)}:{seed}")

    def answer(self, seen: PuzzleView) -> str:
        """Answer what is seen."""
        return _answer(PERSONAS[self._onset.at(seen.turn, FAULTLESS)], self._mind, seen, self._rng)

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        self._rng.seed(f"{self._mind.agent}:{seed}")


def script_answer(persona: str, seen: PuzzleView) -> str:
    """A persona's answer to what it sees; the same situation always gets the same answer, for nothing else is remembered."""
    rng = random.Random(f"asympuzl-seat:{persona}:{seen.user}")
    return _answer(PERSONAS[persona], Mind(seen.agent, seen.clues), seen, rng)


def _answer(persona: Persona, mind: Mind, seen: PuzzleView, rng: random.Random) -> str:
    persona.learn(mind, mind.hear(seen))
    writes = persona.write(mind, seen, rng)
    return persona.form(persona.say(mind, seen, rng), writes, seen.turn, rng)


# -- messages -----------------------------------------------------------------------------------------------------------------------


def _say_all(mind: Mind, _seen: PuzzleView, rng: random.Random) -> str:
    if mind.agent == "A":
        return f"{tell_order(sorted(mind.order.items()), rng)} {rng.choice(_QUESTIONS)}"
    return tell_colors([Entry(shape, color) for shape, color in mind.colors.items()], rng)


def _say_piece(mind: Mind, seen: PuzzleView, rng: random.Random) -> str:
    piece = (seen.turn - 1) % mind.size
    if mind.agent == "A":
        return tell_order([(piece + 1, mind.order[piece + 1])], rng)
    return tell_colors([Entry(mind.shapes[piece], mind.colors[mind.shapes[piece]])], rng)


def _say_guess(mind: Mind, seen: PuzzleView, rng: random.Random) -> str:
    known = _say_all(mind, seen, rng)
    if mind.agent == "A":
        unheard = [color for color in COLORS if color not in mind.colors.values()]
        return f"{known} The {rng.choice(mind.shapes)} is {rng.choice(unheard)}."
    free = [place for place in range(1, mind.size + 1) if place not in mind.order]
    return f"{known} Position {rng.choice(free)} is the {rng.choice(mind.shapes)}." if free else known


def _say_exchanged(mind: Mind, seen: PuzzleView, rng: random.Random) -> str:
    altered = Mind(mind.agent, seen.clues)
    if mind.agent == "A" and mind.size >= _PAIR:
        altered.order[1], altered.order[2] = altered.order[2], altered.order[1]
    elif mind.size >= _PAIR:
        first, second = altered.shapes[:_PAIR]
        altered.colors[first], altered.colors[second] = altered.colors[second], altered.colors[first]
    return _say_all(altered, seen, rng)


# -- what is understood -----------------------------------------------------------------------------------------------------------------


def _learn(mind: Mind, facts: Facts) -> None:
    mind.learn(dict(facts.order), dict(facts.colors))


def _learn_wrongly(mind: Mind, facts: Facts) -> None:
    """Every place one further; every color to the shape that comes next in the alphabet."""
    order = {place % mind.size + 1: shape for place, shape in facts.order}
    shapes = sorted(shape for shape, _ in facts.colors)
    colors = dict(facts.colors)
    mind.learn(order, {shape: colors[shapes[at - 1]] for at, shape in enumerate(shapes)})


# -- what is written --------------------------------------------------------------------------------------------------------------------


def _write_differences(mind: Mind, seen: PuzzleView, _rng: random.Random) -> Sequence[Write]:
    return [(place, entry) for place, entry in _known(mind) if seen.hypothesis[place - 1] != entry]


def _known(mind: Mind) -> list[Write]:
    return [(place, entry) for place in range(1, mind.size + 1) if (entry := mind.entry(place)) is not None]


def _overcorrect(mind: Mind, seen: PuzzleView, rng: random.Random) -> Sequence[Write]:
    """Once all is well, put a neighbour's color where the right one was; the next turn fixes it."""
    differing = _write_differences(mind, seen, rng)
    known = _known(mind)
    if differing or len(known) < _PAIR:
        return differing
    (place, entry), (_, neighbour) = known[0], known[1]
    return [(place, Entry(entry.shape, neighbour.color))]


_PAIR: Final = 2


# -- how it is put ----------------------------------------------------------------------------------------------------------------------

_THOUGHTS: Final = ("", "Let me compare the clues with my hypothesis.\n", "I update what I can.\n")


def _well_formed(message: str, writes: Sequence[Write], _turn: int, rng: random.Random) -> str:
    return rng.choice(_THOUGHTS) + _json(message, [_action(place, entry) for place, entry in writes])


def _broken(message: str, writes: Sequence[Write], turn: int, rng: random.Random) -> str:
    """Sound and broken answers by turns, each kind of fault with the same chance."""
    if turn % 2 == 0:
        return _well_formed(message, writes, turn, rng)
    actions = [_action(place, entry) for place, entry in writes]
    place, entry = writes[0] if writes else (1, Entry("square", "blue"))
    faults = (
        message or "I have nothing to say.",
        _json(message, actions)[:-1],
        _json(message, [*actions, _action(0, entry)]),
        _json(message, [*actions, {"replace": place, "by": "the right one"}]),
        _json(message, [*actions, _action(place, Entry("blob", entry.color))]),
        _json(message, [*actions, _action(place, Entry(entry.shape, "plaid"))]),
        json.dumps({"message": [message], "actions": "none"}),
        _json(message, actions) + "\nThat is my answer.",
    )
    return rng.choice(faults)


def _action(place: int, entry: Entry) -> dict[str, Any]:
    return {"replace": place, "by": entry._asdict()}


def _json(message: str, actions: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"message": message, "actions": actions})


PERSONAS: Final[Mapping[str, Persona]] = {
    "sharing": Persona(say=_say_all, learn=_learn, write=_write_differences, form=_well_formed),
    "piecewise": Persona(say=_say_piece, learn=_learn, write=_write_differences, form=_well_formed),
    "ignoring": Persona(say=_say_all, learn=lambda _mind, _facts: None, write=_write_differences, form=_well_formed),
    "overcorrecting": Persona(say=_say_all, learn=_learn, write=_overcorrect, form=_well_formed),
    "misreading": Persona(say=_say_all, learn=_learn_wrongly, write=_write_differences, form=_well_formed),
    "format_breaking": Persona(say=_say_all, learn=_learn, write=_write_differences, form=_broken),
    "silent": Persona(say=lambda *_: "", learn=_learn, write=_write_differences, form=_well_formed),
    "guessing": Persona(say=_say_guess, learn=_learn, write=_write_differences, form=_well_formed),
    "rewriting": Persona(say=_say_all, learn=_learn, write=lambda mind, _seen, _rng: _known(mind), form=_well_formed),
    "presuming": Persona(say=lambda _mind, _seen, rng: rng.choice(_SEEN), learn=_learn, write=_write_differences, form=_well_formed),
    "misinforming": Persona(say=_say_exchanged, learn=_learn, write=_write_differences, form=_well_formed),
}
"""Persona name -> persona."""
