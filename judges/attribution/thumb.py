"""Rules of thumb for the decisive error of any conversation: no model, no engine, no knowledge of the task.

They are baselines: what a judge is worth is what it adds to them. Each names an agent and a turn, or nothing where it finds no occasion.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from judges.evidence.transcript import Transcript, UtteranceView


class Guess(NamedTuple):
    """Who made the decisive error, and when."""

    agent: str
    turn: int


Rule = Callable[[Transcript], Guess | None]


class _Sent(NamedTuple):
    turn: int
    message: UtteranceView


_ALIKE: Final = 0.9
"""A message repeats another if they share at least this part of the words of both."""
_FEWEST_WORDS: Final = 5
"""Shorter messages repeat each other by chance."""
_FAILURE: Final = re.compile(
    r"\bexitcode: [1-9]|\bexecution failed\b|\btraceback \(most recent call last\)|\b\w*(?:error|exception):|\bhttp (?:error )?[45]\d\d\b"
    r"|\bno results? (?:found|were found)\b|\bnot found\b|\baccess denied\b|\bcould not be (?:found|opened|loaded|read)\b",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"\b(?:incorrect|inaccurate|not correct|not right|wrong|mistake[ns]?|mistaken|discrepanc\w+|contradict\w*|inconsistent)\b",
    re.IGNORECASE,
)
_NOT: Final = frozenset(("not", "no", "never", "cannot", "t"))
"""Words that turn a sentence round; `t` is what is left of n't."""
_PEOPLE: Final = frozenset(("human", "user"))
"""Who asks: not one of the team."""


def chance(game: Transcript) -> tuple[float, float]:
    """How often a draw among the agents who wrote or did something, and one among the turns in which somebody did, would be right."""
    acting = [(one.message.agent, one.turn) for one in _messages(game)] + [
        (done.agent, turn.turn) for turn in game.turns for done in turn.actions
    ]
    return 1 / max(len({agent for agent, _ in acting}), 1), 1 / max(len({turn for _, turn in acting}), 1)


def _messages(game: Transcript) -> Iterator[_Sent]:
    """The messages of the team's agents to each other, in order."""
    for turn in game.turns:
        for message in turn.by_channel("public"):
            if message.agent.casefold() not in _PEOPLE and not message.superseded:
                yield _Sent(turn.turn, message)


def _at(found: _Sent | None) -> Guess | None:
    return None if found is None else Guess(found.message.agent, found.turn)


def _busiest(game: Transcript) -> Guess | None:
    """The agent with the most messages, at its first one."""
    messages = [*_messages(game)]
    agent = next((name for name, _ in Counter(one.message.agent for one in messages).most_common(1)), None)
    return _at(next((one for one in messages if one.message.agent == agent), None))


def _first_refused(game: Transcript) -> Guess | None:
    """The first refused action; in a conversation, the message before the first one that reports a failure."""
    for turn in game.turns:
        refused = next((action for action in turn.actions if action.accepted is False), None)
        if refused is not None:
            return Guess(refused.agent, turn.turn)
    return _before(game, _FAILURE)


def _first_correction(game: Transcript) -> Guess | None:
    """The message before the first one in which another agent states that something is wrong."""
    return _before(game, _CORRECTION)


def _before(game: Transcript, pattern: re.Pattern[str]) -> Guess | None:
    previous: _Sent | None = None
    for one in _messages(game):
        if previous is not None and one.message.agent != previous.message.agent and pattern.search(one.message.text):
            return Guess(previous.message.agent, previous.turn)
        previous = one
    return None


def _first_contradiction(game: Transcript) -> Guess | None:
    """The first message that repeats a sentence of an earlier one with other numbers, or with or without `not`."""
    earlier: dict[frozenset[str], tuple[int, frozenset[str], bool]] = {}
    for number, one in enumerate(_messages(game)):
        for sentence in re.split(r"[.!?;]\s|\n", one.message.text.casefold()):
            words = re.findall(r"\w+", sentence)
            figures = frozenset(word for word in words if word.isdecimal())
            about, turned = frozenset(words) - figures - _NOT, not _NOT.isdisjoint(words)
            if len(about) < _FEWEST_WORDS:
                continue
            when, other_figures, other_turned = earlier.setdefault(about, (number, figures, turned))
            differs = bool(figures) and bool(other_figures) and figures != other_figures
            if when != number and (differs or turned != other_turned):
                return Guess(one.message.agent, one.turn)
    return None


def _first_repeated(game: Transcript) -> Guess | None:
    """The first message that repeats an earlier one of the same agent."""
    earlier: dict[str, list[frozenset[str]]] = {}
    for one in _messages(game):
        words = frozenset(re.findall(r"\w+", one.message.text.casefold()))
        known = earlier.setdefault(one.message.agent, [])
        if len(words) >= _FEWEST_WORDS and any(len(words & other) >= _ALIKE * len(words | other) for other in known):
            return Guess(one.message.agent, one.turn)
        known.append(words)
    return None


RULES: Final[Mapping[str, Rule]] = {
    "last": lambda game: _at(next(reversed([*_messages(game)]), None)),
    "first": lambda game: _at(next(_messages(game), None)),
    "longest": lambda game: _at(max(_messages(game), key=lambda one: len(one.message.text), default=None)),
    "busiest": _busiest,
    "first_refused": _first_refused,
    "first_correction": _first_correction,
    "first_contradiction": _first_contradiction,
    "first_repeated": _first_repeated,
}
"""Name -> rule."""
