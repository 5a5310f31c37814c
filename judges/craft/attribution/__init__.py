"""Who lost what in a CRAFT game, turn by turn.

Each agent's contribution is replaced by its ideal, with everything else as it was. A director's ideal is a clear request for what its view
asks for, or silence where it asks for nothing. The builder's is to carry out what it was asked for clearly and the rules allow. A builder
who carried a message out to the letter is not at fault for what the message got wrong; neither is one whom no message informed better.

`requests` has what directors asked for, `case` the turn with all that the failure points are read from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from games.craft.claims import same_place
from games.craft.engine.board import DIRECTORS, WALLS, Director
from games.craft.engine.rules import Move, accepts
from games.craft.measures import same_effect
from games.craft.players.plain import QUESTION, asking_for
from games.craft.text.replies import builder_line, is_complaint, no_reply_came
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, Ideal, Link, Lost, shared_out
from judges.craft.attribution import case as cases
from judges.craft.checks.prepared import game_of, move_text
from judges.craft.reading import board_of
from judges.evidence.transcript import Transcript

_WORTH_TELLING: Final = 0.005
"""Progress by which another move must be better to be named."""


class Blame(NamedTuple):
    """Why a turn cost what it cost."""

    causes: Sequence[Cause]
    otherwise: tuple[Link, str]
    """Link and evidence of what no cause would have retained."""


def blame(case: cases.TurnCase) -> Blame:
    """Find the links that explain a turn."""
    if case.prepared.view.error is not None:
        return _unattributed("undecided", f"the turn is incomplete: {case.prepared.view.error}")
    move = case.prepared.attempted
    if move is None:
        return _without_move(case)
    return _accepted(case, move) if case.prepared.accepted else _refused(case, move)


def slips(case: cases.TurnCase) -> Iterator[cases.FailurePoint]:
    """What the builder got wrong, whether anything came of it or not; a choice among requests is not a fault."""
    if case.prepared.view.error is None:
        links: tuple[Link, ...] = ("format", "misread", "rule_forgotten")
        yield from (
            cases.FailurePoint(cases.BUILDER, *cause[1:3])
            for cause in blame(case).causes
            if cause.agent == cases.BUILDER and cause.link in links
        )


def _unattributed(link: Link, evidence: str) -> Blame:
    return Blame((), (link, evidence))


def _builder(case: cases.TurnCase, link: Link, evidence: str, *, listed: bool = False) -> Blame:
    """The builder, by what it was asked for well, or (``listed``) could have taken from the list of verified moves."""
    gain, better = case.worth.best([*case.asked_well, *(case.prepared.candidates if listed else ())])
    rest = f"{evidence}; nothing that was asked for{' or listed' if listed else ''} would have saved the rest"
    return Blame([Cause(cases.BUILDER, link, evidence + _instead(gain, better), gain, _deed(better))], ("not_seen", rest))


def _author(case: cases.TurnCase, fault: cases.FailurePoint) -> Cause:
    """A director, by what its view asks for, what the others asked for well, and what was listed."""
    asked_for = () if fault.agent == cases.BUILDER else cases.entailed(case.game, case.prepared, fault.agent)
    gain, better = case.worth.best([*asked_for, *case.asked_well, *case.prepared.candidates])
    return Cause(fault.agent, fault.link, fault.evidence + _instead(gain, better), gain, _ideal(case, fault.agent, better))


def _ideal(case: cases.TurnCase, agent: cases.Agent, better: Move | None) -> Ideal | None:
    if agent == cases.BUILDER:
        return _deed(better)
    if better is not None and not {better.position, better.span_to or better.position} <= set(WALLS[agent]):
        better = case.worth.best(cases.entailed(case.game, case.prepared, agent))[1]  # the best that it can ask for itself
    reply = asking_for(better, agent, case.prepared.board)
    return None if reply is None else Ideal("say", reply, tuple(other for other in DIRECTORS if other != agent))


def _deed(better: Move | None) -> Ideal:
    return Ideal("say", QUESTION, DIRECTORS) if better is None else Ideal("do", builder_line(better, "As it should be"), DIRECTORS)


def _instead(gain: float, better: Move | None) -> str:
    if gain < _WORTH_TELLING:
        return ""
    return f"; {'waiting' if better is None else move_text(better)} would have saved {gain:.3f} more"


# -- no move ------------------------------------------------------------------------------------------


def _without_move(case: cases.TurnCase) -> Blame:
    asked = next((action for action in case.prepared.view.actions if action.verb in ("clarify", "unreadable")), None)
    question = str(asked.arguments.get("question") or asked.arguments.get("reason") or "").strip() if asked else ""
    if no_reply_came(question):
        return _unattributed("undecided", f"the builder's call failed: {question}")
    if asked is None or not question or asked.verb == "unreadable" or is_complaint(question):
        return _builder(case, "format", f'no move can be read: "{question}"', listed=True)
    clash = _clash(case.instructions)
    if clash:
        both = " against ".join(f"{instruction.author}: {instruction.request}" for instruction in clash)
        wrong = [instruction for instruction in clash if instruction.wrong and instruction.author not in case.unread_of]
        return Blame([_author(case, _wrong(instruction)) for instruction in wrong], ("conflict", both))
    if case.doable and not case.not_understood:
        return _builder(case, "needless_question", f'asked "{question}", and had received: {case.doable[0].request}')
    return _speakers(case, ("not_seen", f'no director who spoke could know better; the builder asked "{question}"'))


def _clash(instructions: Sequence[cases.Instruction]) -> list[cases.Instruction]:
    for index, one in enumerate(instructions):
        for other in instructions[index + 1 :]:
            asks = [(instruction.request.verb, instruction.request.color, instruction.request.size) for instruction in (one, other)]
            if one.author != other.author and same_place(one.request, other.request) and asks[0] != asks[1]:
                return [one, other]
    return []


def _wrong(instruction: cases.Instruction) -> cases.FailurePoint:
    return cases.FailurePoint(instruction.author, "wrong_instruction", f"{instruction.request}: {instruction.wrong}")


def _speakers(case: cases.TurnCase, otherwise: tuple[Link, str]) -> Blame:
    """What the turn's messages leave to be desired, message by message; unattributed where one was not understood."""
    if case.not_understood:
        return _unattributed("not_understood", case.not_understood)
    return Blame([_author(case, fault) for fault in cases.faulty_messages(case)], otherwise)


# -- a move -------------------------------------------------------------------------------------------


def _refused(case: cases.TurnCase, move: Move) -> Blame:
    reason = next((action.error_text for action in case.prepared.view.actions if action.verb == move.action), None)
    done = f"{move_text(move)} was refused: {reason or 'no reason is logged'}"
    if any(instruction.move is not None and accepts(case.prepared.board, instruction.move) for instruction in case.same):
        return _builder(case, "rule_forgotten", f"{done}; asked for was {case.same[0].request}")
    reported = _by_request(case, done)
    if reported is not None:
        return reported
    found = _speakers(case, ("not_seen", ""))
    if found.causes or case.not_understood:
        return found
    return _builder(case, "rule_forgotten", f"{done}; no director asked for it", listed=True)


def _accepted(case: cases.TurnCase, move: Move) -> Blame:
    done = move_text(move)
    if case.prepared.board == board_of(case.prepared.view.state_after):
        return _builder(case, "format", f'{done} went into a cell that no wall has, for want of the form "(i,j)"', listed=True)
    if not case.same and any(same_effect(move, listed) for listed in case.prepared.candidates):
        return _unattributed("not_seen", f"{done} was listed as a verified move")
    better = _instead(*case.worth.best(case.prepared.candidates))
    alone: tuple[Link, str] = ("acted_alone", f"{done}; no director asked for it or for anything better{better}")
    return _by_request(case, done) or _speakers(case, alone)


def _by_request(case: cases.TurnCase, done: str) -> Blame | None:
    """What the move has to do with what was asked for; None if no one asked for anything that could be done.

    That the builder did not do what it was asked for needs every message of the turn: one that was not understood may have asked for it.
    """
    if case.same:
        return _carried_out(case, done)
    if case.not_understood:
        return _unattributed("not_understood", case.not_understood)
    near = next((found for found in case.followed if found.how == "differs" and found.instruction in case.doable), None)
    if near is not None:
        return _builder(
            case, "misread", f"{done}; {near.instruction.author} asked for another {' and '.join(near.differs)}: {near.instruction.request}"
        )
    if case.doable:
        return _builder(case, "not_heard", f"{done}; {case.doable[0].author} asked for {case.doable[0].request}")
    return None


def _carried_out(case: cases.TurnCase, done: str) -> Blame:
    """The builder did what it was asked for, as far as it was asked."""
    right = next((instruction for instruction in case.same if instruction.is_good), None)
    if right is not None:
        return _unattributed("not_seen", f"{done}, as {right.author} asked and its view shows: {right.request}")
    authors = {instruction.author: instruction for instruction in reversed(case.same) if instruction.author not in case.unread_of}
    if not authors:
        return _unattributed("not_understood", case.not_understood)
    causes = [
        _author(case, _wrong(instruction)) if instruction.wrong else _unclear(case, instruction, done) for instruction in authors.values()
    ]
    return Blame(causes, ("not_seen", f"{done}, as {case.same[0].author} asked; its view tells no more"))


def _unclear(case: cases.TurnCase, instruction: cases.Instruction, done: str) -> Cause:
    """An author who left something open, by what it meant: the same request made whole by its view."""
    fault = cases.FailurePoint(
        instruction.author, "said_unclear", f"{instruction.request}: {cases.left_open(instruction)}; the builder made it {done}"
    )
    meant = [
        move
        for move in cases.entailed(case.game, case.prepared, instruction.author)
        if cases.following(instruction.request, move)[0] in ("fully", "partly")
    ]
    if not meant:
        return _author(case, fault)
    gain, better = max(((case.worth.of(move), move) for move in meant), key=lambda pair: pair[0])
    return Cause(fault.agent, fault.link, fault.evidence + _instead(gain, better), gain, _ideal(case, fault.agent, better))


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
        case = cases.TurnCase(game, prepared, cases.Worth(prepared.board, game.target, lost[turn]), frozenset(earlier), frozenset(removed))
        findings += _costly(case, turn, lost[turn].cost) if lost[turn].cost > NOTHING else _free(case, turn)
        follows += _follows(case, turn)
        earlier |= {(instruction.author, instruction.move) for instruction in case.instructions if instruction.move is not None}
        if prepared.accepted and prepared.attempted is not None and prepared.attempted.action == "remove":
            removed.add((prepared.attempted.position, prepared.attempted.layer))
    return Attributed(findings, follows)


def _costly(case: cases.TurnCase, turn: int, cost: float) -> Iterator[Finding]:
    """Who is at fault for the cost, and what else was wrong though it cost nothing."""
    causes, otherwise = blame(case)
    found = list(shared_out(turn, cost, causes, otherwise))
    named = {finding.agent for finding in found}
    yield from found
    yield from (Finding(turn, *fault[:2], 0.0, fault.evidence) for fault in cases.faulty_messages(case) if fault.agent not in named)


def _free(case: cases.TurnCase, turn: int) -> Iterator[Finding]:
    case = replace(case, worth=cases.NO_WORTH)
    yield from (Finding(turn, *fault[:2], 0.0, fault.evidence) for fault in (*slips(case), *cases.faulty_messages(case)))


def _follows(case: cases.TurnCase, turn: int) -> Iterator[Follow]:
    how = {id(found.instruction): found.how for found in case.followed}
    for instruction in case.instructions:
        yield Follow(
            turn,
            instruction.seq,
            instruction.author,
            cases.BUILDER,
            str(instruction.request),
            how.get(id(instruction), "no"),
            not instruction.wrong,
        )
