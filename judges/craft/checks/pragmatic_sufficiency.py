"""Pragmatic sufficiency (PS1 to PS6): all public messages of a turn against candidates, the attempted move and what the builder said.

How truth is fixed: formats, section 12.2. The messages are taken together; superseded ones do not count.
"""

from collections.abc import Callable, Iterable
from typing import Final

from games.craft.engine.blocks import BLOCKS, WALLS
from games.craft.engine.move import Move
from judges.craft.checks.evidence import Scene, Speech, game_of, undecided
from judges.craft.checks.requests import Request
from judges.craft.checks.vocabulary import names_place, text_colors
from judges.engine.checks import Check, Decision
from judges.evidence.transcript import Transcript

__all__ = ["CHECKS"]


def names_a_place(scene: Scene) -> Decision:
    """PS1: the messages together point to at least one definite place."""
    placed = [r for r in _requests(scene) if r.stated]
    if placed:
        return Decision("yes", f"{placed[0]}")
    if not scene.current or not any(names_place(m.text) for m in scene.current):
        return Decision("no", "no message has a word or coordinate that could name a cell")
    return undecided("a message has words of place that could not be read")


def describes_candidate_block(scene: Scene) -> Decision:
    """PS2: the messages give colour and size of at least one candidate correctly."""
    if not scene.candidates:
        return undecided("no candidates were listed on this turn")
    located = [r for r in _requests(scene) for move in scene.candidates if _is_block_of(r, move) and _at_place(r, move)]
    if located:
        return Decision("yes", f"{located[0]}: colour, size and place are those of a candidate")
    colors = {color for m in scene.current for color in text_colors(m.text)}
    possible = {move.block for move in scene.candidates if move.block and move.block[0] in colors}
    if not possible:
        return Decision("no", "no message names the colour of any candidate")
    return _unless_typed(scene, possible)


def _unless_typed(scene: Scene, possible: set[str]) -> Decision:
    if not _all_read(scene, needs_cells=False):
        return undecided("not every message could be read wholly")
    if any(r.color is None or r.size is None for r in _requests(scene)):
        return undecided("a message leaves colour or size open")
    typed = [r for r in _requests(scene) if r.block in possible]
    if typed:
        return undecided(f"{typed[0]}: the block of a candidate, at another place or for another action")
    return Decision("no", "no message has both colour and size of any candidate")


def suffices(scene: Scene) -> Decision:
    """PS3: a builder can pick a candidate from the messages without working out the target."""
    if not scene.candidates:
        return undecided("no candidates were listed on this turn")
    requests = _requests(scene)
    for request, move in ((r, c) for r in requests for c in scene.candidates):
        if _is_candidate(request, move) and not any(_opposes(o, move) for o in requests):
            return Decision("yes", f"{request}: is completely a candidate, and no message speaks against it")
    if not _all_read(scene, needs_cells=False) or not requests:
        return _without_requests(scene)
    fitting = [r for r in requests for move in scene.candidates if _fits(r, move)]
    if fitting:
        return undecided(f"{fitting[0]}: fits a candidate only in part, or is spoken against")
    return Decision("no", "no message is compatible with any candidate: " + "; ".join(map(str, requests)))


def _without_requests(scene: Scene) -> Decision:
    if all(not m.requests and not text_colors(m.text) and not names_place(m.text) for m in scene.current):
        return Decision("no", "no message names an action, a block or a place")
    return undecided("not every message could be read wholly")


def places_are_exact(scene: Scene) -> Decision:
    """PS4: every place is described so that only one cell and layer fit."""
    requests = _requests(scene)
    if not scene.current or not any(names_place(m.text) for m in scene.current):
        return Decision("no", "no message has a word or coordinate that could name a cell")
    if not _all_read(scene, needs_cells=True) or not requests:
        return undecided("not every message could be read wholly")
    if all(r.stated and r.layer is not None for r in requests):
        return Decision("yes", "cell and layer are given in all: " + "; ".join(map(str, requests)))
    return undecided("cell or layer are given in some of the messages")


def builder_understood(scene: Scene) -> Decision:
    """PS5: what the builder attempted is what a director asked for, slips of layer or span allowed; N/A on a clarification."""
    move = scene.attempted
    if move is None:
        return Decision("na", "the builder asked back") if scene.clarified else undecided("no move is logged")
    if move.action == "place" and move.block not in BLOCKS:
        return undecided(f"the builder wrote {move.block!r}, which is no block")
    return _compared(scene, move)


def _compared(scene: Scene, move: Move) -> Decision:
    requests = _requests(scene)
    if not requests or not all(r.cells for r in requests) or not _all_read(scene, needs_cells=True):
        return undecided("what the messages ask for, and where, could not be read wholly")
    followed = [r for r in requests if _was_followed(r, move)]
    if followed and all(_is_other_size(r, move) for r in followed):
        return undecided(f"{followed[0]}: the builder attempted {_written(move)}, a block of the other size")
    if followed:
        return Decision("yes", f"{followed[0]}: the builder attempted {_written(move)}")
    if move.action == "place" and all(r.color and r.verb and r.one_block for r in requests):
        return Decision("no", f"the builder attempted {_written(move)}; asked for was " + "; ".join(map(str, requests)))
    return undecided(f"the builder attempted {_written(move)}, which fits no message as read")


def miss_by_underspecification(scene: Scene) -> Decision:
    """PS6: the miss comes from vague messages, not from builder mechanics; N/A when a candidate was carried out, or none was listed."""
    move = scene.attempted
    if scene.clarified or not scene.candidates:
        return Decision("na", "the builder asked back, or no candidates were listed")
    if move is None:
        return undecided("no move is logged")
    if scene.accepted and any(_same_move(move, candidate) for candidate in scene.candidates):
        return Decision("na", f"the candidate {_written(move)} was carried out")
    return _blamed(scene, move)


def _blamed(scene: Scene, move: Move) -> Decision:
    if names_a_place(scene).answer == "no" and scene.accepted:
        return Decision("yes", f"no message names a place, and {_written(move)} is no candidate")
    if suffices(scene).answer == "yes" and any(_slipped(move, candidate) for candidate in scene.candidates):
        return Decision("no", f"the messages suffice; {_written(move)} differs from a candidate only in layer or second cell")
    return undecided("neither the messages nor the move alone explain the miss")


def _requests(scene: Scene) -> list[Request]:
    return [r for m in scene.current for r in m.requests]


def _all_read(scene: Scene, *, needs_cells: bool) -> bool:
    return all(_is_read(m, needs_cells=needs_cells) for m in scene.current)


def _is_read(message: Speech, *, needs_cells: bool) -> bool:
    if not message.requests:
        return not text_colors(message.text) and not names_place(message.text)
    taken = {c.color for c in (*message.requests, *message.mentions)} | {c.old_color for c in message.requests}
    if not text_colors(message.text) <= taken and any(r.color is None for r in message.requests):
        return False
    return not needs_cells or all(r.cells or not names_place(message.text) for r in message.requests)


def _is_block_of(request: Request, move: Move) -> bool:
    return request.block is not None and request.block == move.block and request.verb == move.action


def _at_place(request: Request, move: Move) -> bool:
    return request.stated and set(request.cells) == move.covered() and request.layer in (None, move.layer)


def _is_candidate(request: Request, move: Move) -> bool:
    return _is_block_of(request, move) and _at_place(request, move) and request.layer is not None


def _fits(request: Request, move: Move) -> bool:
    """Whether nothing that the request names differs from a candidate."""
    if request.verb not in (move.action, "replace", None) or move.block is None:
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


def _is_other_size(request: Request, move: Move) -> bool:
    return move.action == "place" and request.size not in (None, (move.block or "")[1:])


def _same_move(move: Move, candidate: Move) -> bool:
    return (move.action, move.block, move.layer) == (
        candidate.action,
        candidate.block,
        candidate.layer,
    ) and move.covered() == candidate.covered()


def _slipped(move: Move, candidate: Move) -> bool:
    return (move.action, move.block) == (candidate.action, candidate.block) and move.position in candidate.covered()


def _written(move: Move) -> str:
    to = f" to {move.span_to}" if move.span_to else ""
    return f"{move.action} {move.block or 'the top'} at {move.position}{to}, layer {move.layer}"


def _check(answer: Callable[[Scene], Decision]) -> Check:
    def check(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        if agent is not None and agent in WALLS:
            return undecided("this question is about the messages of the whole turn, not of one director")
        return answer(game_of(transcript).scene(turn))

    return check


_QUESTIONS: Final[Iterable[Callable[[Scene], Decision]]] = (
    names_a_place,
    describes_candidate_block,
    suffices,
    places_are_exact,
    builder_understood,
    miss_by_underspecification,
)

CHECKS: Final[dict[str, Check]] = {f"craft.PS{number}": _check(answer) for number, answer in enumerate(_QUESTIONS, start=1)}
