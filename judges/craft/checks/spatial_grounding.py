"""Spatial grounding (SG1 to SG7): private reasoning against the board and the target as that director was shown it.

How truth is fixed: formats, section 12.2. A request is a thing the reasoning wants placed or removed; where it has several
on the director's own wall, a question is answered only if the answer is the same for all of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from games.craft.claims import Named, Request
from games.craft.engine.board import MAX_HEIGHT, WALLS, Cell, Director, is_large
from games.craft.engine.rules import Move, execute
from judges.checks import Check, Decision
from judges.claims.reading import Open, Shown
from judges.craft.checks import prepared as prepare
from judges.craft.language.typed import Detail
from judges.evidence.transcript import Transcript

_REPEATED: Final = "the director spoke more than once in this turn"


@dataclass(frozen=True, slots=True)
class _Subject:
    """A director's reasoning with all it is checked against."""

    game: prepare.PreparedGame
    prepared: prepare.PreparedTurn
    director: Director
    thought: prepare.Speech

    def height(self, cell: Cell) -> int:
        return self.prepared.board.height(cell)

    def shown(self, cell: Cell, layer: int) -> tuple[str, str] | None:
        return self.game.shown(self.director, cell, layer)

    def on_board(self, cell: Cell, layer: int) -> str | None:
        stack = self.prepared.board.stack(cell)
        return stack[layer] if layer < len(stack) else None

    def is_right(self, cell: Cell, layer: int) -> bool | None:
        """Whether the block there is what the target has there; None if looks and truth differ."""
        block, wanted = self.on_board(cell, layer), self.shown(cell, layer)
        target = self.game.target
        if block is None or wanted is None or target is None:
            return False
        looks = block[0] == wanted[0]
        stack = target.stack(cell)
        truly = layer < len(stack) and stack[layer] == block
        truly = truly and (not is_large(block) or target.partner(cell, layer) == self.prepared.board.partner(cell, layer))
        return looks if looks == truly else None

    def is_right_already(self, claim: Request) -> bool:
        """Whether a claim names a block by colour and layer that is at its right place: one half is enough, unless it is to be placed."""
        layer = claim.layer
        if layer is None or claim.color is None:
            return False
        named = [cell for cell in claim.cells if cell in WALLS[self.director]]
        fits = [self.is_right(cell, layer) is True and (self.on_board(cell, layer) or "")[:1] == claim.color for cell in named]
        return all(fits) and bool(fits) if claim.verb == "place" else any(fits)


def names_missing_block(subject: _Subject) -> Decision:
    """SG1 since version 2: the reasoning names a block that really is missing on this director's wall."""
    asked = subject.thought.reading.arrived_at(Request)
    if isinstance(asked, Open):
        return prepare.undecided(asked.why)
    own = [request for request in asked if request.on_wall(subject.director)]
    hit = next((request for request in own if _is_missing(subject, request)), None)
    if hit is not None:
        return Decision("yes", f"{hit}: the target view has this block there and the board does not")
    whole = subject.thought.reading.whole(Request)
    if isinstance(whole, Open):
        return prepare.undecided(whole.why)
    reasons = [_not_missing(subject, request) for request in own]
    if reasons and all(reasons) and not any(request.place_open for request in whole):
        return Decision("no", "; ".join(reasons))
    if own or not whole or not all(request.cells for request in whole):
        return prepare.undecided(
            f"cannot prove whether {own[0]} is missing" if own else "it is not clear which block of its wall is asked for"
        )
    return Decision("no", f"{whole[0]}: not on the director's wall, and no block of that is asked for")


def settles_on_missing_block(subject: _Subject) -> Decision:
    """SG1 of version 1: as later, but of several blocks that the reasoning names the one counts that it settles on."""
    found = names_missing_block(subject)
    asked = subject.thought.reading.arrived_at(Request)
    if found.answer != "yes" or isinstance(asked, Open):
        return found
    other = next((one for one in prepare.wanted_now(asked) if not one.on_wall(subject.director) or not _is_missing(subject, one)), None)
    return found if other is None else prepare.undecided(f"{found.reason}; not so {other}")


def _is_missing(subject: _Subject, request: Request) -> bool:
    """A block is named by colour and place; a size that is stated has to be right."""
    if request.verb not in ("place", "replace") or request.color is None or not request.cells:
        return False
    if request.size is not None and not request.one_block:
        return False
    layers = range(MAX_HEIGHT) if request.layer is None else [request.layer]
    wanted = {(request.color, size) for size in ("s", "l") if request.size in (None, size)}
    return any(all(layer >= subject.height(cell) and subject.shown(cell, layer) in wanted for cell in request.cells) for layer in layers)


def _not_missing(subject: _Subject, request: Request) -> str:
    """Give why what a request names is not missing; empty if that cannot be proved."""
    if request.verb == "remove":
        return _not_missing_removal(subject, request)
    cell = request.cells[0]
    if request.color is None or request.verb != "place":
        return ""
    if request.layer is not None and all(subject.is_right(c, request.layer) for c in request.cells):
        return f"{request}: that layer is already right"
    rest = [subject.shown(c, layer) for c in request.cells for layer in range(subject.height(c), MAX_HEIGHT)]
    if not any(block and block[0] == request.color for block in rest):
        return f"{request}: the target view has no such colour in the rest of {cell}"
    return ""


def _not_missing_removal(subject: _Subject, request: Request) -> str:
    if request.layer is None:
        return ""
    cell = request.cells[0]
    if subject.on_board(cell, request.layer) is None:
        return f"{request}: the cell is empty there, and no missing block is named"
    if subject.is_right(cell, request.layer):
        return f"{request}: that block is right, and no missing block is named"
    if request.layer < subject.height(cell) - 1:
        return f"{request}: that block is buried, and no missing block is named"
    return ""


def leaves_out_right_blocks(subject: _Subject) -> Decision:
    """SG2: the reasoning asks neither again for a block that is right nor for its removal; a remark that one is there asks for nothing."""
    asked = subject.thought.reading.whole(Request)
    if isinstance(asked, Open):
        return prepare.undecided(asked.why)
    right = next((request for request in asked if subject.is_right_already(request)), None)
    if right is not None:
        return Decision("no", f"{right}: that block is already right")
    requests = [request for request in asked if not request.cells or not set(request.cells).isdisjoint(WALLS[subject.director])]
    if any(not request.cells or (request.layer is None and _may_be_right(subject, request)) for request in requests):
        return prepare.undecided("not every block that the reasoning asks for has a place")
    if any(_looks_right(subject, cell, request.layer) for request in requests for cell in request.cells):
        return prepare.undecided("a block that the reasoning asks for looks right and is not")
    return Decision("yes", "none of the blocks that the reasoning asks for is right on the board already")


def _may_be_right(subject: _Subject, request: Request) -> bool:
    """Whether a request without a layer may mean a block that is right, or looks so."""
    return any(_looks_right(subject, cell, layer) for cell in request.cells for layer in range(subject.height(cell)))


def _looks_right(subject: _Subject, cell: Cell, layer: int | None) -> bool:
    return layer is not None and cell in WALLS[subject.director] and subject.is_right(cell, layer) is not False


def gives_target_layer(subject: _Subject, request: Request) -> Decision:
    """SG3 of version 1: as later, but a layer that the target view confirms, filled by a wrong block, is left open."""
    found = gives_next_layer(subject, request)
    layer = request.layer
    filled = layer is not None and all(layer < subject.height(cell) for cell in request.cells)
    if found.answer == "no" and layer is not None and filled and all(_shows_color(subject, c, layer, request.color) for c in request.cells):
        return prepare.undecided(found.reason)
    return found


def gives_next_layer(subject: _Subject, request: Request) -> Decision:
    """SG3 since version 2: the layer of the missing block follows from what is stacked there."""
    if request.verb == "remove":
        return Decision("na", f"{request}: no block is to be placed")
    if request.verb != "place" or request.layer is None or not request.on_wall(subject.director):
        return prepare.undecided(f"{request}: no layer and cell of a block to be placed on the director's wall")
    heights = sorted({subject.height(cell) for cell in request.cells})
    wanted = {request.layer, *heights} & set(range(MAX_HEIGHT))
    if not any(all(_shows_color(subject, cell, layer, request.color) for cell in request.cells) for layer in wanted):
        return prepare.undecided(f"{request}: the target view has another colour there")
    if request.layer not in heights:
        return Decision("no", f"{request}: the stack is {heights[0]} high, so that is the next layer")
    if len(heights) > 1 or not all(_shows_color(subject, cell, request.layer, request.color) for cell in request.cells):
        return prepare.undecided(f"{request}: its cells differ in height, or the target view has another colour on that layer")
    return Decision("yes", f"{request}: the stack is {request.layer} high, so this is the next layer")


def _shows_color(subject: _Subject, cell: Cell, layer: int, color: str | None) -> bool:
    block = subject.shown(cell, layer)
    return block is not None and block[0] == color


def arrives_at_candidate(subject: _Subject, request: Request) -> Decision:
    """SG4: the action is one of the listed candidates."""
    listed = subject.prepared.candidates
    if request.color is None or not request.cells or request.verb not in ("place", "remove"):
        return prepare.undecided(f"{request}: action, colour and cell are not all known")
    exact = [move for move in listed if _is_move(request, move)]
    if exact:
        return Decision("yes", f"{request}: is the candidate {prepare.move_text(exact[0])}")
    same_action = [move for move in listed if move.action == request.verb and (move.block or "")[:1] == request.color]
    near = [move for move in same_action if not move.covered().isdisjoint(request.cells)]
    if near:
        return prepare.undecided(f"{request}: near the candidate {prepare.move_text(near[0])}, but not equal to it")
    return Decision("no", f"{request}: no candidate {request.verb}s this colour there")


def can_be_carried_out(subject: _Subject, request: Request) -> Decision:
    """SG5: the engine would accept the action as it is, the partner of a removed domino supplied."""
    if request.verb == "place" and request.size == "l" and len(request.cells) == 1:
        return Decision("unclear", f"{request}: which second cell it covers is not stated")
    move = _literal(subject, request)
    if move is None:
        return prepare.undecided(f"{request}: not enough is named to try it")
    outcome = execute(subject.prepared.board, move)
    if outcome.error is None:
        return Decision("yes", f"{request}: the engine accepts {prepare.move_text(move)}")
    return Decision("no", f"{request}: the engine refuses {prepare.move_text(move)}: {outcome.error.message}")


def reads_size(subject: _Subject, request: Request) -> Decision:
    """SG6: the size is the one that the target view shows."""
    if request.verb == "remove":
        return Decision("na", f"{request}: no block is to be placed")
    if request.verb == "place" and request.size is None and not isinstance(subject.thought.reading.whole(Request, Detail), Open):
        return Decision("unclear", f"{request}: no size is stated")
    if request.verb != "place" or request.size is None or not request.on_wall(subject.director):
        return prepare.undecided(f"{request}: no size of a block to be placed on the director's wall")
    layer = request.layer if request.layer is not None else subject.height(request.cells[0])
    views = [subject.shown(cell, layer) for cell in request.cells] if layer < MAX_HEIGHT else []
    sizes = {view[1] for view in views if view is not None and view[0] == request.color}
    if len(sizes) != 1:
        return prepare.undecided(f"{request}: the target view shows another colour there, or two sizes")
    if sizes == {request.size}:
        return Decision("yes", f"{request}: the target view shows this size")
    return Decision("no", f"{request}: the target view shows the other size")


def names_only_own_wall(subject: _Subject) -> Decision:
    """SG7 since version 2: only cells that this director can see are named, if only to say that another director sees them."""
    wall = WALLS[subject.director]
    match subject.thought.reading.find(Named, lambda named: named.cell not in wall):
        case Shown(foreign):
            cells = sorted({named.cell for named in foreign})
            return Decision("no", f'{", ".join(cells)}: outside {subject.director}\'s wall ("{foreign[0].words}")')
        case Open(why):
            return prepare.undecided(why)
    own = subject.thought.reading.find(Named)
    if not isinstance(own, Shown):
        return prepare.undecided("no cell is named")
    return Decision("yes", f"names only {', '.join(sorted(named.cell for named in own.claims))}, all on {subject.director}'s wall")


def plans_on_own_wall(subject: _Subject) -> Decision:
    """SG7 of version 1: as later, but a cell outside the wall decides nothing unless something is asked for there."""
    found = names_only_own_wall(subject)
    asked = subject.thought.reading.arrived_at(Request)
    if found.answer != "no" or (not isinstance(asked, Open) and any({*one.cells} - {*WALLS[subject.director]} for one in asked)):
        return found
    return prepare.undecided(f"{found.reason}; not known to be asked for")


def _literal(subject: _Subject, request: Request) -> Move | None:
    if not request.cells or request.verb not in ("place", "remove"):
        return None
    cell = request.cells[0]
    if request.verb == "remove":
        height = subject.height(cell)
        layer = request.layer if request.layer is not None else height - 1
        partner = subject.prepared.board.partner(cell, layer)
        if height and request.layer == height - 1 and request.color not in (None, subject.prepared.board.stack(cell)[-1][0]):
            return None
        return Move("remove", None, cell, max(layer, 0), partner)
    if request.color is None or not request.one_block:
        return None
    layer = max(map(subject.height, request.cells)) if request.layer is None else request.layer
    span_to = request.cells[1] if request.size == "l" else None
    return Move("place", request.color + (request.size or "s"), cell, layer, span_to)


def _is_move(request: Request, move: Move) -> bool:
    if move.action != request.verb or move.block is None or set(request.cells) != move.covered():
        return False
    return request.color == move.block[:1] and request.size in (None, move.block[1:]) and request.layer in (None, move.layer)


def _unanimous(decisions: Iterable[Decision]) -> Decision:
    return prepare.agreed([*decisions], "the reasoning asks for several things")


def _whole(answer: Callable[[_Subject], Decision], *, once: bool = False) -> Check:
    """Check all reasonings of the turn; `once`: a yes to one of them is enough."""

    def check(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        game = prepare.game_of(transcript)
        director = next((name for name in WALLS if name == agent), None)
        if director is None or not game.has_view(director):
            return prepare.undecided(f"{agent or 'no agent'} is not a director whose target view is known")
        prepared = game.prepared(turn)
        thoughts = [thought for thought, _ in prepared.spoken(director) if thought is not None]
        if not thoughts:
            return prepare.undecided("the log has no reasoning of this director on this turn")
        found = [answer(_Subject(game, prepared, director, thought)) for thought in thoughts]
        return next((one for one in found if once and one.answer == "yes"), None) or prepare.agreed(found, _REPEATED)

    return check


def _each(answer: Callable[[_Subject, Request], Decision]) -> Check:

    def for_all(subject: _Subject) -> Decision:
        requests = subject.thought.reading.arrived_at(Request)
        if isinstance(requests, Open):
            return prepare.undecided(requests.why)
        own = [request for request in requests if request.on_wall(subject.director)]
        now = prepare.wanted_now(requests)
        hidden = next((request for request in now or requests if request.place_open), None)
        if hidden is not None or not requests:
            return prepare.undecided(f"{hidden}: where that is, is not clear" if hidden else "the reasoning asks for nothing")
        return _unanimous(answer(subject, request) for request in prepare.wanted_now(own) or now or own or requests)

    return _whole(for_all)


CHECKS: Final[dict[str, Check]] = {
    "craft.SG1": _whole(settles_on_missing_block),
    "craft.SG1_any": _whole(names_missing_block, once=True),
    "craft.SG2": _whole(leaves_out_right_blocks),
    "craft.SG3": _each(gives_target_layer),
    "craft.SG3_next": _each(gives_next_layer),
    "craft.SG4": prepare.if_candidates(_each(arrives_at_candidate)),
    "craft.SG5": _each(can_be_carried_out),
    "craft.SG6": _each(reads_size),
    "craft.SG7": _whole(plans_on_own_wall),
    "craft.SG7_named": _whole(names_only_own_wall),
}
