"""What a player can do, and the grammar of its answer.

Source: formats/einstein.md section 4. The grammar is the published one, odd corners included: logs were made with it.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from games.einstein.engine.puzzle import BINS, Bin, Grounding, Item, RelationKind, relation
from games.players.player import texts_of
from schemas.replies import Reading, is_echo

ActionType = Literal["move", "share", "ask", "pass", "invalid"]


@dataclass(frozen=True, slots=True)
class Move:
    """Take an object from one bin to another."""

    block: int
    source: Bin
    target: Bin

    @property
    def text(self) -> str:
        """The action in the form that the grammar reads."""
        return f"move block{self.block} from {self.source} to {self.target}"


@dataclass(frozen=True, slots=True)
class Share:
    """Tell the partner an item."""

    item: Item

    @property
    def text(self) -> str:
        """The action in the form that the grammar reads."""
        return f"share {self.item.text}"


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the partner about an object."""

    block: int

    @property
    def text(self) -> str:
        """The action in the form that the grammar reads."""
        return f"ask block{self.block}"


@dataclass(frozen=True, slots=True)
class Pass:
    """Do nothing."""

    @property
    def text(self) -> str:
        """The action in the form that the grammar reads."""
        return "pass"


Action = Move | Share | Ask | Pass


class Answer(NamedTuple):
    """A player's answer, taken apart."""

    reasoning: str | None
    """Content of the first ``<THINK>`` pair; None if there is none."""
    action_text: str
    """Content of the first ``<ACTION>`` pair, stripped; empty if there is none."""
    action: Action | None
    """None for an answer that the grammar does not read."""


_THINK: Final = re.compile(r"<THINK>(.*?)</THINK>", re.DOTALL)
_ACTION: Final = re.compile(r"<ACTION>(.*?)</ACTION>", re.DOTALL)
_WHOLE: Final = re.compile(r"\s*(?:<THINK>(?:(?!<THINK>).)*</THINK>\s*)?<ACTION>(?:(?!</?ACTION>).)*</ACTION>\s*", re.DOTALL)
_KINDS: Final[tuple[RelationKind, ...]] = get_args(RelationKind)
_HIGHEST_BLOCK: Final = 30
"""The grammar reads object numbers up to here, whatever the game has."""


def parse_answer(text: str) -> Answer:
    """Take an answer apart: its first tags count, those of a draft in the thoughts only where no other follow.

    Without tags it is invalid, and so are the thoughts of its prompt's form.
    """
    thought = _THINK.search(text)
    action = (_ACTION.search(text, thought.end()) if thought else None) or _ACTION.search(text)
    action_text = action[1].strip() if action else ""
    reasoning = thought[1].strip() if thought else None
    return Answer(reasoning, action_text, None if is_echo(reasoning or "", _example_thoughts()) else parse_action(action_text))


def answer_reading(text: str) -> Reading:
    """How an answer is read: as asked if it is nothing but its tags, in order."""
    found = parse_answer(text)
    if found.action is None:
        return Reading("unreadable")
    return Reading("as asked") if _WHOLE.fullmatch(text) else Reading("repaired", found.action_text)


def parse_action(text: str) -> Action | None:
    """Read an action; None if the grammar does not have it."""
    if text == "pass":
        return Pass()
    verb, space, rest = text.partition(" ")
    if verb == "ask" and space:
        return None if (block := _block(rest.strip())) is None else Ask(block)
    if verb == "share" and space:
        return None if (item := _item(rest.strip())) is None else Share(item)
    match text.split():
        case ["move", name, "from", source, "to", target] if source in BINS and target in BINS and (block := _block(name)) is not None:
            return Move(block, source, target)
    return None


def action_type(action: Action | None) -> ActionType:
    """Give the type under which an answer is counted."""
    return _TYPES[type(action)]


def write_answer(action_text: str, reasoning: str | None = None) -> str:
    """Put an action, and reasoning if there is any, into the tags of an answer."""
    thought = "" if reasoning is None else f"<THINK>{reasoning}</THINK>"
    return f"{thought}<ACTION>{action_text}</ACTION>"


@cache
def _example_thoughts() -> tuple[str, ...]:
    """Of the form that prompts show; its action names bins that no game has."""
    return tuple(_THINK.findall(texts_of("games.einstein")["form"]["sane"]["reasoning"]))


def _block(text: str) -> int | None:
    if not text.startswith("block"):
        return None
    try:
        number = int(text.removeprefix("block"))
    except ValueError:
        return None
    return number if 0 <= number <= _HIGHEST_BLOCK else None


def _item(text: str) -> Item | None:
    """A knowledge item in brackets."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    match [part.strip() for part in text[1:-1].split(",")]:
        case [block, "in", place] if place in BINS and (number := _block(block)) is not None:
            return Grounding(number, place)
        case [first, second, "same", kind] if (
            kind in _KINDS and (one := _block(first)) is not None and (other := _block(second)) is not None
        ):
            return relation(one, other, kind)
    return None


_TYPES: Final[dict[type, ActionType]] = {Move: "move", Share: "share", Ask: "ask", Pass: "pass", type(None): "invalid"}
