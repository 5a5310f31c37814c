"""The broken links of a CRAFT game, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from games.craft.engine.blocks import Director
from games.craft.engine.move import Move
from games.craft.engine.rules import execute
from games.craft.value.reach import best_progress
from judges.attribution.findings import Attributed, Finding, Follow, Lost
from judges.craft.attribution.blame import BUILDER, Case, Culprit, culprits, faults, written
from judges.craft.checks.evidence import game_of
from judges.evidence.transcript import Transcript

__all__ = ["attribute"]

_NOTHING: Final = 1e-9
_WORTH_TELLING: Final = 0.005
"""Progress by which another move must be better to be named."""


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Walk the chain of every turn that has a value; see `judges.attribution.findings.Attribute`."""
    game = game_of(transcript)
    findings: list[Finding] = []
    follows: list[Follow] = []
    earlier: set[tuple[Director, Move]] = set()
    for turn in (turn for turn in lost if turn <= len(transcript.turns)):
        case = Case(game, game.scene(turn), frozenset(earlier))
        findings += _findings(case, turn, lost[turn])
        follows += _follows(case, turn)
        earlier |= {(wish.author, wish.move) for wish in case.wishes if wish.move is not None}
    return Attributed(findings, follows)


def _findings(case: Case, turn: int, lost: Lost) -> Iterator[Finding]:
    cost = max(lost.cost, 0.0)
    explains = culprits(case) if cost > _NOTHING or not case.scene.accepted else []
    for culprit in explains:
        evidence = culprit.evidence + (_better(case, lost) if cost > _NOTHING else "")
        yield Finding(turn, culprit.agent, culprit.link, cost / len(explains) if cost > _NOTHING else 0.0, evidence)
    for culprit in faults(case, explains):
        yield Finding(turn, culprit.agent, culprit.link, 0.0, culprit.evidence)


def _better(case: Case, lost: Lost) -> str:
    """The best of the moves that were asked for or listed, in words; empty if none was worth more."""
    target, left = case.game.target, lost.left
    if target is None or left is None:
        return ""
    moves = {wish.move for wish in case.wishes if wish.move is not None} | {*case.scene.candidates}
    worth = [(best_progress(outcome.board, target, left - 1), written(move)) for move in moves if (outcome := execute(case.scene.board, move)).accepted]
    best = max(worth, default=(0.0, ""))
    return f"; {best[1]} would have kept {best[0] - lost.after:.3f} more" if best[0] > lost.after + _WORTH_TELLING else ""


def _follows(case: Case, turn: int) -> Iterator[Follow]:
    for found in case.followed:
        yield Follow(turn, found.wish.seq, found.wish.author, BUILDER, str(found.wish.request), found.how)
    if case.scene.attempted is None:
        for wish in case.wishes:
            yield Follow(turn, wish.seq, wish.author, BUILDER, str(wish.request), "no")
