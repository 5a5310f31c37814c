"""What a player of one of the four games answers, and how the answer becomes a listed action.

The text similarity is that of the published scoring, on the standard library's matcher (formats description of LLM-Coordination, section
1.7). The published runs used `difflib`, not edit distances, and rounded each part to whole per cent; libraries that compute the same score
in another way choose other options for texts that resemble none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, partial
from random import Random
from typing import Any, Final, Literal, TypeVar

from schemas.replies import Read as ReadKind

_LONGER: Final = 1.5
"""From this ratio of lengths on, parts of the longer text are compared."""

_MUCH_LONGER: Final = 8
_WHOLE: Final = 0.995
_NON_WORD: Final = re.compile(r"\W")
_LATIN_1: Final = re.compile("[\x80-\xff]")

_Ratio = Callable[[str, str], int]


def best_match(text: str, options: Sequence[str]) -> tuple[int, int]:
    """Index of the option that resembles a text most, the first of equals, and its similarity; no minimum.

    Raises:
        ValueError: there are no options.
    """
    scores = [similarity(text, option) for option in options]
    best = max(scores)
    return scores.index(best), best


@lru_cache(maxsize=65536)
def similarity(first: str, second: str) -> int:
    """Weighted ratio of two texts, 0 to 100."""
    a, b = _clean(first), _clean(second)
    if not a or not b:
        return 0
    lengths = max(len(a), len(b)) / min(len(a), len(b))
    if lengths < _LONGER:
        return round(max(_ratio(a, b), 0.95 * _sorted(_ratio, a, b), 0.95 * _sets(_ratio, a, b)))
    weight = 0.6 if lengths > _MUCH_LONGER else 0.9
    parts = (weight * _partial(a, b), 0.95 * weight * _sorted(_partial, a, b), 0.95 * weight * _sets(_partial, a, b))
    return round(max(_ratio(a, b), *parts))


@lru_cache(maxsize=4096)
def _clean(text: str) -> str:
    once = _LATIN_1.sub("", _NON_WORD.sub(" ", text).lower().strip())
    return _NON_WORD.sub(" ", once).lower().strip()


def _ratio(a: str, b: str) -> int:
    if a == b:
        return 100 if a else 0
    return round(100 * SequenceMatcher(None, a, b).ratio()) if a and b else 0


def _partial(a: str, b: str) -> int:
    """The best of the pieces of the longer text that begin where a common block does."""
    if not a or not b:
        return 0
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    best = 0.0
    for block in SequenceMatcher(None, short, long).get_matching_blocks():
        start = max(block.b - block.a, 0)
        score = SequenceMatcher(None, short, long[start : start + len(short)]).ratio()
        if score > _WHOLE:
            return 100
        best = max(best, score)
    return round(100 * best)


def _sorted(ratio: _Ratio, a: str, b: str) -> int:
    return ratio(" ".join(sorted(a.split())), " ".join(sorted(b.split())))


def _sets(ratio: _Ratio, a: str, b: str) -> int:
    words_a, words_b = set(a.split()), set(b.split())
    common = " ".join(sorted(words_a & words_b))
    with_a = f"{common} {' '.join(sorted(words_a - words_b))}".strip()
    with_b = f"{common} {' '.join(sorted(words_b - words_a))}".strip()
    return max(ratio(common, with_a), ratio(common, with_b), ratio(with_a, with_b))


Player = Literal["Alice", "Bob"]
PLAYERS: Final[tuple[Player, Player]] = ("Alice", "Bob")

Injected = Literal["misgrounded_card", "misgrounded_state", "misgrounded_location", "redundant_clue", "unsafe_play", "idle"]
"""What a scripted player does wrong on purpose."""

PLANTED_QUESTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "misgrounded_card": ("coordination_environment", "EC1"),
    "misgrounded_state": ("coordination_environment", "EC1"),
    "misgrounded_location": ("coordination_environment", "EC1"),
    "redundant_clue": ("coordination_theory_of_mind", "TOM1"),
    "unsafe_play": ("coordination_joint_planning", "JP1"),
    "idle": ("coordination_joint_planning", "JP3"),
}
"""What a script does wrong on purpose -> rubric and question whose true answer is then no."""

Read = Literal["exact", "asked_again", "guessed", "random", "default", "lost"]

READS: Final[Mapping[Read, str]] = {
    "exact": "the reply names exactly one listed action",
    "asked_again": "an earlier reply named no listed action; the player was asked again, and its last reply names one exactly",
    "guessed": "the reply names no listed action exactly; the published harness took the most similar one",
    "random": "the reply names no listed action; the harness drew one at random",
    "default": "the reply names no listed action; the harness took the action that does nothing",
    "lost": "no whole reply came, the call failed or its reply was cut; the harness took an action",
}
"""How a reply became an action -> what that means."""

KINDS: Final[Mapping[Read, ReadKind]] = {
    "exact": "as asked",
    "asked_again": "repaired",
    "guessed": "guessed",
    "random": "random",
    "default": "unreadable",
    "lost": "cut",
}
"""How a reply became an action -> the kind that all games have in common."""

HARNESS_READS: Final[tuple[Read, ...]] = ("guessed", "random", "default", "lost")
"""Those whose action is the harness's, not the player's: no verdict is about it, and no player is at fault for it."""

_ACTION: Final = re.compile(r"Action:\s*(.*)")
_MARKER: Final = re.compile(r"\baction[\s*_]*:[\s*_]*", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_LABEL: Final = re.compile(r"([A-Z])\.? (?=[A-Z])")
_WRITTEN_LABEL: Final = re.compile(r"([a-z])\s*[.):]\s*(?=\S)")
_AROUND: Final = " \t\r\n.,;!`*_\"'()[]{}<>\u201c\u201d\u2018\u2019"
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00a0": " "})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptDecision:
    """A scripted player's answer."""

    intended: str
    """The listed text that is meant."""
    explanation: str
    injected: tuple[Injected, ...] = ()

    @property
    def response(self) -> str:
        """The answer as a model would write it."""
        return f"Explanation: {self.explanation}\nAction: {self.intended}"


GRADES: Final = (0, 25, 50, 75, 100)
"""Skills of graded scripts, percent: the share of decisions that are the best script's; the others are legal actions at random."""


_Decision = TypeVar("_Decision")


def graded(best: Callable[..., _Decision], at_random: Callable[..., _Decision]) -> dict[str, Callable[..., _Decision]]:
    """The best script of a game, weakened in steps: `graded_0` to `graded_100`, stand-ins for trained partners, which are not published."""

    def decide(skill: int, *seen: Any) -> _Decision:
        rng: Random = seen[-1]
        return (best if rng.random() * 100 < skill else at_random)(*seen)

    return {f"graded_{skill}": partial(decide, skill) for skill in GRADES}


def partner_of(player: Player) -> Player:
    """The other player."""
    return "Bob" if player == "Alice" else "Alice"


def named_action(response: str, listed: Sequence[str]) -> str | None:
    """Give the listed action that a reply names exactly; None where it names none, or more than one.

    Read is what follows `Action:` up to the end of the line, or the whole reply without such a mark, outside of thoughts. Case,
    white space, punctuation and marks around it do not matter, nor does a missing letter. A letter alone, a letter of another action, or
    other words before or after the action do.
    """
    text = _THOUGHT.sub("", response)
    _, *marked = _MARKER.split(text)
    written = {_plain(piece.partition("\n")[0]) for piece in marked if piece.strip()} or {_plain(text)}
    names = {name: text for text in listed for name in _names(text)}
    found = {names.get(text) for text in written}
    return found.pop() if len(found) == 1 else None


def _names(listed: str) -> tuple[str, ...]:
    """A listed action with its letter, and without one."""
    label = _LABEL.match(listed)
    return (_plain(listed),) if label is None else (_plain(listed), _plain(listed[label.end() :]))


def _plain(text: str) -> str:
    words = " ".join(text.translate(_QUOTES).strip(_AROUND).lower().split())
    return _WRITTEN_LABEL.sub(r"\1 ", words, count=1) if _WRITTEN_LABEL.match(words) else words


def ground(response: str, listed: Sequence[str], *, contained: bool = True) -> str | None:
    """The listed action that the published harness takes from a response; None where it has no marker.

    The first listed text that contains the answer (not in Hanabi: ``contained`` False), else the most similar one: slips are part of it
    (docs/coordination.md, "Grounding").
    """
    answer = _answer(response)
    if answer is None:
        return None
    within = next((text for text in listed if answer in text.lower()), None) if contained else None
    return within or listed[best_match(answer, listed)[0]]


def read_of(response: str, executed: str, *, at_random: bool) -> Read | None:
    """How the published harness came from a reply to the action carried out (without a marker at random, or none); None: no reply."""
    if not response.strip():
        return None
    if named_action(response, [executed]) is not None:
        return "exact"
    if _answer(response) is not None:
        return "guessed"
    return "random" if at_random else "default"


def _answer(response: str) -> str | None:
    found = _ACTION.search(response)
    if found is None:
        return None
    answer = found[1].lower()
    return answer.partition("action:")[2].strip() if "action:" in answer else answer.strip()
