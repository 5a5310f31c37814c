"""Pragmatic sufficiency (PS1 to PS6): all public messages of a turn against candidates, the attempted move and what the builder stated.

How truth is fixed: formats, section 12.2. The messages are taken together; superseded ones do not count.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from games.craft.claims import Named, Remark, Request
from games.craft.engine.board import BLOCKS, COLORS, SIZES, WALLS
from games.craft.engine.rules import Move
from games.craft.measures import same_effect
from judges.checks import Check, Decision
from judges.claims.reading import Absent, Open, Shown, all_whole, find_in
from judges.craft.checks.prepared import PreparedTurn, game_of, if_candidates, move_text, undecided
from judges.evidence.transcript import Transcript


def names_a_place(prepared: PreparedTurn) -> Decision:
    """PS1: the messages together point to at least one definite place."""
    match find_in(prepared.readings, Request, lambda request: request.stated and bool(request.cells)):
        case Shown() as placed:
            return Decision("yes", f"{placed.first}")
    match find_in(prepared.readings, Named):
        case Absent():
            return Decision("no", "no message names a cell")
        case Open(why):
            return undecided(why)
    return undecided("a cell is named, and nothing asked for there")


def describes_candidate_block(prepared: PreparedTurn) -> Decision:
    """PS2: the messages give colour and size of at least one candidate correctly."""

    def is_candidate(request: Request) -> bool:
        return any(_is_block_of(request, move) and _at_place(request, move) for move in prepared.candidates)

    located = find_in(prepared.readings, Request, is_candidate)
    if isinstance(located, Shown):
        return Decision("yes", f"{located.first}: colour, size and place are those of a candidate")
    whole: tuple[Request | Remark, ...] | Open = all_whole(prepared.readings, Request, Remark)
    if isinstance(whole, Open):
        return undecided(whole.why)
    return _without_candidate(prepared, [claim for claim in whole if isinstance(claim, Request)], whole)


def _without_candidate(prepared: PreparedTurn, asked: Sequence[Request], whole: Sequence[Request | Remark]) -> Decision:
    possible = {move.block for move in prepared.candidates if move.block}
    if not {claim.color for claim in whole} & {block[0] for block in possible}:
        return Decision("no", "no message names the colour of any candidate")
    typed = next((claim for claim in whole if claim.block in possible), None)
    if typed is not None:
        return undecided(f"{typed}: the block of a candidate, at another place or for another action")
    if any(request.color is None for request in asked):
        return undecided("a message leaves the colour open")
    sizeless = next((one for one in asked if one.size is None and one.color in {block[0] for block in possible}), None)
    if sizeless is not None:
        return Decision("unclear", f"{sizeless}: the colour of a candidate, and no size")
    return Decision("no", "no message has both colour and size of any candidate")


def suffices(prepared: PreparedTurn) -> Decision:
    """PS3: a builder can pick a candidate from the messages without working out the target."""
    for move in prepared.candidates:
        exact = find_in(prepared.readings, Request, partial(_is_candidate, move=move))
        opposed = find_in(prepared.readings, Request, partial(_opposes, move=move))
        if isinstance(exact, Shown) and not isinstance(opposed, Shown):
            return Decision("yes", f"{exact.first}: is completely a candidate, and no message speaks against it")
    asked = all_whole(prepared.readings, Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    fitting = [request for request in asked if any(_fits(request, move) for move in prepared.candidates)]
    if fitting:
        return undecided(f"{fitting[0]}: fits a candidate only in part, or is spoken against")
    return Decision("no", "no message is compatible with any candidate: " + ("; ".join(map(str, asked)) or "nothing is asked for"))


def places_are_exact(prepared: PreparedTurn) -> Decision:
    """PS4: every place is described so that only one cell fits; a layer may be left out."""
    asked = all_whole(prepared.readings, Request)
    named = find_in(prepared.readings, Named)
    if isinstance(asked, Open) or isinstance(named, Open):
        return undecided(asked.why if isinstance(asked, Open) else "a place may be named that was not read")
    if isinstance(named, Absent) and not any(request.cells for request in asked):
        return Decision("no", "no message names a cell")
    if asked and all(request.stated and request.cells for request in asked):
        return Decision("yes", "the cell is given in all: " + "; ".join(map(str, asked)))
    return undecided("a cell is given in some of the messages")


def builder_understood(prepared: PreparedTurn) -> Decision:
    """PS5: the builder's words show what a director asked for; N/A on a clarification.

    A move that does what was asked for shows it (slips of layer or span allowed). One that does not shows the contrary only where the words
    name no colour that was asked for.
    """
    move = prepared.attempted
    if move is None:
        return Decision("na", "the builder asked back") if prepared.clarified else undecided("no move is logged")
    if move.action == "place" and move.block not in BLOCKS:
        return undecided(f"the builder wrote {move.block!r}, which is not a block")
    return _compared(prepared, move)


def _compared(prepared: PreparedTurn, move: Move) -> Decision:
    followed = find_in(prepared.readings, Request, lambda request: _was_followed(request, move) and not _makes_large(request, move))
    if not isinstance(followed, Shown):
        return _not_followed(prepared, move)
    attempt = f"{followed.first}: the builder attempted {move_text(move)}"
    if not all(move.action == "place" and request.size not in (None, (move.block or "")[1:]) for request in followed.claims):
        return Decision("yes", attempt)
    asked = all_whole(prepared.readings, Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    if prepared.builder_words & {SIZES[request.size] for request in followed.claims if request.size is not None}:
        return undecided(f"{attempt}, a block of the other size; its words may repeat the size that was asked for")
    return Decision("no", f"{attempt}, a block of the other size")


def _not_followed(prepared: PreparedTurn, move: Move) -> Decision:
    asked = all_whole(prepared.readings, Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    if any(_was_followed(request, move) for request in asked):
        return undecided(f"the builder attempted {move_text(move)}, a large block, and no message gives its size")
    if prepared.builder_words & {COLORS[request.color] for request in asked if request.color in COLORS}:
        return undecided(f"the builder attempted {move_text(move)}; its words may repeat what was asked for")
    if asked and move.action == "place" and all(request.color and request.cells and request.one_block for request in asked):
        return Decision("no", f"the builder attempted {move_text(move)}; asked for was " + "; ".join(map(str, asked)))
    return undecided(f"the builder attempted {move_text(move)}, which fits no message as read")


def miss_by_underspecification(prepared: PreparedTurn) -> Decision:
    """PS6: the miss comes from vague messages, not from builder mechanics; N/A when a candidate was carried out, or none was listed."""
    move = prepared.attempted
    if not prepared.candidates:
        return Decision("na", "no candidates were listed")
    if move is None:
        if suffices(prepared).answer == "yes":
            return Decision("no", "the messages suffice, and the builder did not move")
        if prepared.clarified and names_a_place(prepared).answer == "no":
            return Decision("yes", "no message names a place, and the builder asked")
        return undecided("neither the messages nor the builder alone explain that it did not move")
    if prepared.accepted and any(same_effect(move, candidate) for candidate in prepared.candidates):
        return Decision("na", f"the candidate {move_text(move)} was carried out")
    return _blamed(prepared, move)


def _blamed(prepared: PreparedTurn, move: Move) -> Decision:
    if names_a_place(prepared).answer == "no" and prepared.accepted:
        return Decision("yes", f"no message names a place, and {move_text(move)} is not a candidate")
    if suffices(prepared).answer == "yes" and any(_slipped(move, candidate) for candidate in prepared.candidates):
        return Decision("no", f"the messages suffice; {move_text(move)} differs from a candidate only in layer or second cell")
    return undecided("neither the messages nor the move alone explain the miss")


def _is_block_of(request: Request, move: Move) -> bool:
    return request.block is not None and request.block == move.block and request.verb == move.action


def _at_place(request: Request, move: Move) -> bool:
    return request.stated and set(request.cells) == move.covered() and request.layer in (None, move.layer)


def _is_candidate(request: Request, move: Move) -> bool:
    return _is_block_of(request, move) and _at_place(request, move) and request.layer is not None


def _fits(request: Request, move: Move) -> bool:
    """Whether nothing that the request names differs from a candidate."""
    if request.verb not in (move.action, "replace") or move.block is None:
        return False
    return (
        request.color in (None, move.block[0])
        and request.size in (None, move.block[1])
        and request.layer in (None, move.layer)
        and set(request.cells) <= move.covered()
    )


def _opposes(request: Request, move: Move) -> bool:
    """Whether a request wants something else in the candidate's place."""
    if request.cells and move.covered().isdisjoint(request.cells):
        return False
    if not request.cells or request.layer not in (None, move.layer) or move.block is None:
        return False
    return request.verb != move.action or request.color not in (None, move.block[0]) or request.size not in (None, move.block[1])


def _was_followed(request: Request, move: Move) -> bool:
    whole = request.size == "l" and request.one_block
    named = {move.position} if whole else move.covered()  # of a half-named domino either half may be meant
    if request.verb not in (move.action, "replace") or named.isdisjoint(request.cells):
        return False
    return move.action == "remove" or request.color in (None, (move.block or "")[:1])


def _makes_large(request: Request, move: Move) -> bool:
    """Whether the builder made a large block of one whose size and second cell the request leaves open."""
    return move.action == "place" and len(move.covered()) > 1 and request.size is None and set(request.cells) != move.covered()


def _slipped(move: Move, candidate: Move) -> bool:
    return (move.action, move.block) == (candidate.action, candidate.block) and move.position in candidate.covered()


def _check(answer: Callable[[PreparedTurn], Decision]) -> Check:
    def check(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        if agent is not None and agent in WALLS:
            return undecided("this question is about the messages of the whole turn, not of one director")
        return answer(game_of(transcript).prepared(turn))

    return check


_QUESTIONS: Final[Iterable[Callable[[PreparedTurn], Decision]]] = (
    names_a_place,
    describes_candidate_block,
    suffices,
    places_are_exact,
    builder_understood,
    miss_by_underspecification,
)

CHECKS: Final[dict[str, Check]] = {
    name: if_candidates(check) if name in ("craft.PS2", "craft.PS3") else check
    for name, check in ((f"craft.PS{number}", _check(answer)) for number, answer in enumerate(_QUESTIONS, start=1))
}
