"""An AsymPuzl game out of the store as the rules look at it: the puzzle, and what each agent did in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from games.asympuzl.answer import FAULTS, Fault, RequestedAction, apply
from games.asympuzl.facts import Fact, Facts, facts_of
from games.asympuzl.labels import DoneTurn, Label, Move, labels_of
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle
from judges.asympuzl.reading import reads
from judges.claims.readers import reading_of
from judges.claims.reading import Open, all_certain, all_whole
from judges.engine.checks import cached_for_recent
from judges.evidence.transcript import RULES, ActionView, Transcript, TurnView


class History:
    """A game, prepared once for all checks."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.puzzle = _puzzle(transcript)
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


def _puzzle(transcript: Transcript) -> Puzzle:
    truth = entries_of((transcript.goal or {}).get("truth", ()))
    clues = {name: entries_of((view.private_view or {}).get("clues", ())) for name, view in transcript.agents.items()}
    return Puzzle(truth, clues.get("A", ()), clues.get("B", ()))


def _acting(turn: TurnView) -> list[Agent]:
    spoken = {said.agent for said in turn.utterances}
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
        message=" ".join(said.text for said in turn.said("public", agent)),
        moves=tuple(Move(one.request.replace, one.request.fault, one.changed, one.takes_back) for one in applied),
        before=before,
        after=after,
        read=None if transcript.reader == RULES else _read(transcript, turn, agent),
    )


def _read(transcript: Transcript, turn: TurnView, agent: Agent) -> Facts:
    """What the reader of the game understood the agent's messages to state; the rules of the game read by patterns themselves."""
    readings = [reading_of(transcript, turn.turn, said) for said in turn.said("public", agent) if reads(said)]
    whole = all_whole(readings, Fact)
    return replace(facts_of(all_certain(readings, Fact)), unread=(whole.why,) if isinstance(whole, Open) else ())


def _request(action: ActionView) -> RequestedAction:
    place, shape, color = (action.arguments.get(name) for name in ("position", "shape", "color"))
    if action.accepted and isinstance(place, int):
        return RequestedAction(place, str(shape).strip().lower(), _color(color), None)
    fault: Fault = next((name for name in FAULTS if name == action.error_code), "bad_structure")
    return RequestedAction(place if isinstance(place, int) else None, None, None, fault)
