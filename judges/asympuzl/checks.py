"""AsymPuzl games as the rules look at them, and engine checks: the labels of games/asympuzl/labels.py as answers to `asympuzl_failures`.

Where a label rests on reading free text, only what was read is proved: a "no" is given if the message has not even the words that it would
take, and is undecided otherwise.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from games.asympuzl.answer import FAULTS, Fault, RequestedAction, apply
from games.asympuzl.facts import Fact, Facts, color_words, facts_of, shape_words
from games.asympuzl.labels import DoneTurn, Label, Move, labels_of, taken_back
from games.asympuzl.puzzle import AGENTS, COLORS, Agent, Entry, Puzzle, other
from judges.asympuzl.reading import reads
from judges.checks import Check, Decision, cached_for_recent
from judges.claims.readers import reading_of
from judges.claims.reading import Open, all_certain, all_whole
from judges.evidence.transcript import RULES, ActionView, Transcript, TurnView


class History:
    """A game, prepared once for all checks."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        truth = entries_of((transcript.goal or {}).get("truth", ()))
        clues = {name: entries_of((view.private_view or {}).get("clues", ())) for name, view in transcript.agents.items()}
        self.puzzle = Puzzle(truth, clues.get("A", ()), clues.get("B", ()))
        self._found: dict[tuple[int, str], dict[Label, str]] = {}
        self._done = [_done(transcript, turn, agent, self.puzzle) for turn in transcript.turns for agent in _acting(turn)]

    def until(self, turn: int, agent: str) -> list[DoneTurn]:
        """The turns of both agents up to this one of this agent, in the order of play; empty if the agent did nothing then."""
        for place, done in enumerate(self._done):
            if (done.turn, done.agent) == (turn, agent):
                return self._done[: place + 1]
        return []

    def labels(self, turn: int, agent: str) -> Mapping[Label, str]:
        """The labels of an agent's turn, each with its evidence."""
        key = (turn, agent)
        if key not in self._found:
            self._found[key] = dict(labels_of(self.until(turn, agent), self.puzzle))
        return self._found[key]


@cached_for_recent
def history_of(transcript: Transcript) -> History:
    """The prepared game of a transcript."""
    return History(transcript)


def entries_of(listed: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """Entries as the store holds them, in the spelling that the rules compare."""
    return tuple(Entry(str(one["shape"]).strip().lower(), _color(one.get("color"))) for one in listed)


def _color(color: object) -> str | None:
    return color.strip().lower() if isinstance(color, str) else None


def _acting(turn: TurnView) -> list[Agent]:
    spoken = {message.agent for message in turn.utterances}
    return [agent for agent in AGENTS if agent in spoken]


def _done(transcript: Transcript, turn: TurnView, agent: Agent, puzzle: Puzzle) -> DoneTurn:
    before, after = entries_of(turn.state_before[agent]), entries_of(turn.state_after[agent])
    own = [action for action in turn.actions if action.agent == agent]
    requests = [_request(action) for action in own if action.verb == "replace"]
    _, applied = apply(before, requests, puzzle.truth)
    return DoneTurn(
        agent=agent,
        turn=turn.turn,
        parse_ok=not any(action.verb == "answer" and action.accepted is False for action in own),
        message=" ".join(message.text for message in turn.by_channel("public", agent)),
        moves=tuple(Move(one.request.replace, one.request.fault, one.changed, one.takes_back) for one in applied),
        before=before,
        after=after,
        read=None if transcript.reader == RULES else _read(transcript, turn, agent),
    )


def _read(transcript: Transcript, turn: TurnView, agent: Agent) -> Facts:
    """What the reader of the game understood the agent's messages to state; the rules of the game read by patterns themselves."""
    readings = [reading_of(transcript, turn.turn, message) for message in turn.by_channel("public", agent) if reads(message)]
    whole = all_whole(readings, Fact)
    return replace(facts_of(all_certain(readings, Fact)), unread=(whole.why,) if isinstance(whole, Open) else ())


def _request(action: ActionView) -> RequestedAction:
    place, shape, color = (action.arguments.get(name) for name in ("position", "shape", "color"))
    if action.accepted and isinstance(place, int):
        return RequestedAction(place, str(shape).strip().lower(), _color(color), None)
    fault: Fault = next((name for name in FAULTS if name == action.error_code), "bad_structure")
    return RequestedAction(place if isinstance(place, int) else None, None, None, fault)


_Absence = Callable[[Sequence[DoneTurn], Puzzle], Decision]
"""What can be stated where the rule did not find the label."""

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
    messages = [done for done in history[:-1] if done.agent == other(now.agent)]
    if not messages or not shape_words(messages[-1].message, puzzle.vocabulary):
        return Decision("na", "the partner's latest message names no shape of the puzzle")
    if now.after == puzzle.truth:
        return Decision("no", "the agent's hypothesis is right")
    if not messages[-1].facts(puzzle.spoken).unread:
        return Decision("no", "no true statement of the partner's latest message is contradicted before and after")
    return Decision(None, "not every statement of the partner's latest message could be read")


def _not_overcorrected(history: Sequence[DoneTurn], puzzle: Puzzle) -> Decision:
    now = history[-1]
    messages = [done for done in history[:-1] if done.agent == other(now.agent)]
    if taken_back(now) and messages and (unread := messages[-1].facts(puzzle.spoken).unread):
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
