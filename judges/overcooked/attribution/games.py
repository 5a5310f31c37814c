"""The broken links of a Collab-Overcooked game, step by step.

Each agent's move is replaced by its best one, with the partner's as it was, by the bound of `games.overcooked.value`. Whose fault it is
that it did not make that move is told by what it had been asked for; where nobody could know better, or both had to do better at once, the
cost is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from games.overcooked.engine.layout import AGENTS
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, How, Link, Lost, shared_out
from judges.evidence.transcript import Transcript
from judges.overcooked.attribution.blame import ANSWERS, REQUESTS, History
from judges.overcooked.attribution.moves import gains
from judges.overcooked.attribution.requests import TrackedRequest
from judges.overcooked.conversations import task_in

__all__ = ["MEASURES", "attribute"]

MEASURES: Final = ("overcooked.time_left",)

_NOBODY: Final = "neither could know better and do better alone"


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Hold every step against what either agent could have done; see `judges.attribution.findings.Attribute`."""
    task = task_in(transcript)
    if task is None:
        return Attributed([], [])
    history = History(transcript, task)
    findings: list[Finding] = []
    for view in transcript.turns:
        history.enter(view.turn)
        value = lost.get(view.turn)
        if value is not None and value.cost > NOTHING:
            findings += _of_step(history, view.turn, value)
        history.leave(view.turn)
    costly = {(found.turn, found.agent) for found in findings}
    findings += [found for found in _told(history) if (found.turn, found.agent) not in costly]
    return Attributed(sorted(findings, key=lambda found: found.turn), [*_follows(history)])


def _of_step(history: History, turn: int, lost: Lost) -> Iterator[Finding]:
    game = history.game
    kept = gains(history.task, game.turn(turn), lost.after)
    causes: list[Cause] = []
    otherwise: tuple[Link, str] = ("not_seen", _NOBODY)
    for agent, gain in enumerate(kept):
        broken = history.broken_link(turn, agent) if gain > NOTHING else None
        if broken is None:
            continue
        if broken.agent is None:
            otherwise = (broken.link, broken.evidence)
        else:
            causes.append(Cause(AGENTS[broken.agent], broken.link, broken.evidence, gain))
    yield from shared_out(turn, lost.cost, causes, otherwise)


def _told(history: History) -> Iterator[Finding]:
    """Wrong requests and answers, and unreadable ones, without regard to what they cost."""
    for asked in history.asked:
        link = REQUESTS.get(asked.request or "")
        if link is not None:
            yield Finding(asked.turn, AGENTS[asked.opener], link, 0.0, f"{asked.words} ({asked.request})")
        answer = ANSWERS.get(asked.answer or "") if asked.right else None
        if answer is not None:
            yield Finding(asked.turn, AGENTS[asked.responder], answer, 0.0, f"{AGENTS[asked.opener]} {asked.words}: {asked.answer}")
    for view in history.game.turns:
        for failure in view.failures:
            if failure.category == "format" and failure.agent in AGENTS:
                yield Finding(view.turn, failure.agent, "format", 0.0, "its answer could not be read")


def _follows(history: History) -> Iterator[Follow]:
    """Each action that was asked for, and whether it was done before something else was asked for."""
    for asked in history.asked:
        for place, action in enumerate(() if asked.unread else asked.actions):
            yield Follow(
                asked.turn, asked.seq, AGENTS[asked.opener], AGENTS[asked.responder], action, _how(asked, place), right=asked.right
            )


def _how(asked: TrackedRequest, place: int) -> How:
    if place < asked.done:
        return "fully"
    return "differs" if asked.answer == "wrong_parameter" else "no"
