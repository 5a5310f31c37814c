"""Engine checks of AsymPuzl: the derived labels of games/asympuzl/labels.py as answers to the rubric `asympuzl_failures`.

Where a label rests on reading free text, only what was read is proved: a "no" is given if the message has not even the words that it would
take, and is undecided otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.asympuzl.facts import color_words, shape_words
from games.asympuzl.labels import DoneTurn, Label, taken_back
from games.asympuzl.puzzle import COLORS, Puzzle, other
from judges.asympuzl.history import history_of
from judges.engine.checks import Check, Decision
from judges.evidence.transcript import Transcript

_Absence = Callable[[Sequence[DoneTurn], Puzzle], Decision]
"""What can be said where the rule did not find the label."""

_PLACE_WORDS: Final = re.compile(
    r"\d|\b(?:first|second|third|fourth|fifth|sixth|last|order\w*|positions?|sequence|left|right)\b", re.IGNORECASE
)


def _is_proof(_history: Sequence[DoneTurn], _puzzle: Puzzle) -> Decision:
    return Decision("no", "the rule reads actions and states alone, and found nothing")


def _not_repeated(history: Sequence[DoneTurn], _puzzle: Puzzle) -> Decision:
    if any(done.agent == history[-1].agent for done in history[:-1]):
        return Decision("no", "differs from this agent's message before")
    return Decision("na", "the agent's first message")


def _not_ignored(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    now = history[-1]
    said = [done for done in history[:-1] if done.agent == other(now.agent)]
    if not said or not shape_words(said[-1].message, puzzle.vocabulary):
        return Decision("na", "the partner's latest message names no shape of the puzzle")
    if now.after == puzzle.truth:
        return Decision("no", "the agent's hypothesis is right")
    if not said[-1].facts(puzzle.spoken).unread:
        return Decision("no", "no true statement of the partner's latest message is contradicted before and after")
    return Decision(None, "not every statement of the partner's latest message could be read")


def _not_overcorrected(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    now = history[-1]
    said = [done for done in history[:-1] if done.agent == other(now.agent)]
    if taken_back(now) and said and (unread := said[-1].facts(puzzle.spoken).unread):
        return Decision(None, f"the partner may have asked for it; not understood: {'; '.join(unread)}")
    return Decision("no", "no right entry was made wrong but by what the partner's latest message states")


def _no_claim(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    now = history[-1]
    if now.agent == "A":
        words = puzzle.vocabulary._replace(colors=puzzle.vocabulary.colors.union(COLORS))
        named = {color for done in history if done.agent == "B" for color in color_words(done.message, words)}
        if color_words(now.message, words) <= named:
            return Decision("no", "the message names no color that B has not named")
    elif not shape_words(now.message, puzzle.vocabulary) or _PLACE_WORDS.search(now.message) is None:
        return Decision("no", "the message has no words for a place, or no shape")
    return Decision(None, "the message has words that could make such a claim, but none could be read")


def _not_sufficient(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    now = history[-1]
    missing = puzzle.vocabulary.shapes - shape_words(now.message, puzzle.vocabulary)
    if now.agent == "B":
        missing |= puzzle.vocabulary.colors - color_words(now.message, puzzle.vocabulary)
    if missing and not now.facts(puzzle.spoken).unread:
        return Decision("no", f"the message does not name {', '.join(sorted(missing))}")
    return Decision(None, "not everything in the message could be read")


def _not_wrong(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    facts = history[-1].facts(puzzle.spoken)
    if facts.unread:
        return Decision(None, f"not understood: {'; '.join(facts.unread)}")
    return Decision("no", "nothing that the message states is against its own clues")


_ABSENCE: Final[Mapping[Label, _Absence]] = {
    "no_json": _is_proof,
    "invalid_action": _is_proof,
    "repeated_message": _not_repeated,
    "ignored_partner": _not_ignored,
    "overcorrection": _not_overcorrected,
    "wasted_write": _is_proof,
    "correction_spiral": _is_proof,
    "out_of_knowledge_claim": _no_claim,
    "wrong_statement": _not_wrong,
    "sufficient_message": _not_sufficient,
}


def _check(label: Label) -> Check:
    def decide(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        game = history_of(transcript)
        history = game.until(turn, agent or "")
        if not history or not game.puzzle.truth:
            return Decision(None, "the store has no answer of this agent on this turn, or not the right solution")
        found = game.labels(turn, agent or "").get(label)
        return _ABSENCE[label](history, game.puzzle) if found is None else Decision("yes", found)

    return decide


CHECKS: Final[Mapping[str, Check]] = {f"asympuzl.{label}": _check(label) for label in _ABSENCE}
"""Check name, such as ``asympuzl.no_json`` -> check."""
