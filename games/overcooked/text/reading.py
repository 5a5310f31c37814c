"""The state text read back: what an agent knows that has nothing else (formats/overcooked.md, section 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from games.overcooked.engine.actions import WrittenAction, parse_call
from games.overcooked.engine.layout import AGENTS, Layout, kitchen

_HANDS: Final = re.compile(
    r"<(\w+)> holds (nothing|one [^.]+|a dish with \S+ and needs to deliver it)\. "
    r"The planned sequence of actions \(yet to be performed\) for \w+ is \[(.*?)\](?= <| Kitchen)"
)
_UTENSIL: Final = re.compile(r"<(\w+)> (is empty|has [^;]*|starts [^;]*);")
_COUNTERS: Final = re.compile(r"(\d+) counters have (\w+) which")
_SAID: Final = re.compile(r"(\w+) say history turn \d+ : (.*)")
_CALLS: Final = re.compile(r"\w+\([^()]*\)")


@dataclass(frozen=True, slots=True)
class AgentInput:
    """What an agent has before it: what is wanted, and the state text with conversation and error."""

    agent: int
    kind: str
    text: str
    layout: Layout = field(default_factory=kitchen)
    """The kitchen, whose tables scripts know by heart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenView:
    """A kitchen as far as an agent is told of it."""

    order: str
    holds: tuple[str | None, str | None]
    """Of Chef and Assistant."""
    planned: tuple[str, str]
    """What either is going to do, as text."""
    raw: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Utensil -> what has been put into it and not been started."""
    ready: Mapping[str, str] = field(default_factory=dict)
    """Utensil -> what can be taken from it."""
    running: frozenset[str] = frozenset()
    """Utensils that are processing."""
    counters: tuple[str, ...] = ()
    """What lies on the shared counters."""
    said: tuple[tuple[str, str], ...] = ()
    """The conversation: role and say."""


def calls_of(text: str) -> list[WrittenAction]:
    """All actions that are written out in a text."""
    return [call for found in _CALLS.findall(text) if (call := parse_call(found)) is not None]


def read_scene(text: str) -> KitchenView:
    """Read a state text."""
    order = re.search(r"^Order:(\w+)$", text, re.MULTILINE)
    hands = {name: (held, planned) for name, held, planned in _HANDS.findall(text)}
    utensils = dict(_UTENSIL.findall(text))
    return KitchenView(
        order=order[1] if order else "",
        holds=(_held(hands["Chef"][0]), _held(hands["Assistant"][0])),
        planned=(hands["Chef"][1], hands["Assistant"][1]),
        raw={name: _contents(state) for name, state in utensils.items() if state.startswith("has ") and ",which" in state.replace(" ", "")},
        ready={
            name: state.removeprefix("has ").strip()
            for name, state in utensils.items()
            if state.startswith("has ") and "which" not in state
        },
        running=frozenset(name for name, state in utensils.items() if state.startswith("starts ")),
        counters=tuple(item for count, item in _COUNTERS.findall(text) for _ in range(int(count))),
        said=tuple((who, say) for who, say in _SAID.findall(text) if who in AGENTS),
    )


def _held(words: str) -> str | None:
    if words == "nothing":
        return None
    return words.split()[3] if words.startswith("a dish with") else words.removeprefix("one ").strip()


def _contents(state: str) -> tuple[str, ...]:
    return tuple(state.removeprefix("has ").partition(",")[0].split())
