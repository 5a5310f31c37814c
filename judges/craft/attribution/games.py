"""The broken links of a CRAFT game, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from games.craft.engine.board import Director
from games.craft.engine.rules import Move
from judges.attribution.findings import NOTHING, Attributed, Finding, Follow, Lost, shared_out
from judges.craft.attribution.blame import blame, slips
from judges.craft.attribution.case import BUILDER, TurnCase
from judges.craft.attribution.messages import faulty_messages
from judges.craft.attribution.worth import NO_WORTH, Worth
from judges.craft.checks.prepared import game_of
from judges.evidence.transcript import Transcript

__all__ = ["MEASURES", "attribute"]

MEASURES: Final = ("craft.reachable",)


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Walk the chain of every turn that has a value; see `judges.attribution.findings.Attribute`."""
    game = game_of(transcript)
    findings: list[Finding] = []
    follows: list[Follow] = []
    earlier: set[tuple[Director, Move]] = set()
    removed: set[tuple[str, int]] = set()
    for turn in (turn for turn in lost if turn <= len(transcript.turns)):
        prepared = game.prepared(turn)
        case = TurnCase(game, prepared, Worth(prepared.board, game.target, lost[turn]), frozenset(earlier), frozenset(removed))
        findings += _costly(case, turn, lost[turn].cost) if lost[turn].cost > NOTHING else _free(case, turn)
        follows += _follows(case, turn)
        earlier |= {(wish.author, wish.move) for wish in case.wishes if wish.move is not None}
        if prepared.accepted and prepared.attempted is not None and prepared.attempted.action == "remove":
            removed.add((prepared.attempted.position, prepared.attempted.layer))
    return Attributed(findings, follows)


def _costly(case: TurnCase, turn: int, cost: float) -> Iterator[Finding]:
    """Who is at fault for the cost, and what else was wrong though it cost nothing."""
    causes, otherwise = blame(case)
    found = list(shared_out(turn, cost, causes, otherwise))
    named = {finding.agent for finding in found}
    yield from found
    yield from (Finding(turn, *fault[:2], 0.0, fault.evidence) for fault in faulty_messages(case) if fault.agent not in named)


def _free(case: TurnCase, turn: int) -> Iterator[Finding]:
    """What was wrong in a turn that cost nothing."""
    case = replace(case, worth=NO_WORTH)
    yield from (Finding(turn, *fault[:2], 0.0, fault.evidence) for fault in (*slips(case), *faulty_messages(case)))


def _follows(case: TurnCase, turn: int) -> Iterator[Follow]:
    how = {id(found.wish): found.how for found in case.followed}
    for wish in case.wishes:
        yield Follow(turn, wish.seq, wish.author, BUILDER, str(wish.request), how.get(id(wish), "no"), not wish.wrong)
