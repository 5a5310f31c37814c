"""A CRAFT turn as attribution sees it: what was asked for and done, what each message lacks, what other moves would have retained."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple

from games.craft.claims import Request
from games.craft.engine.board import DIRECTORS, EMPTY_BOARD, MAX_HEIGHT, WALLS, Board, Cell, Director, is_large
from games.craft.engine.rules import Move, accepts, execute
from games.craft.measures import followed_physical
from games.craft.text.replies import FAILED_CALL_MESSAGE
from games.craft.value.search import best_progress
from judges.attribution.findings import How, Link, Lost
from judges.claims.reading import Open
from judges.craft.checks.prepared import PreparedGame, PreparedTurn, Speech, ViewedBlock, move_text
from judges.craft.language.typed import Detail

_DOMINO: Final = 2


@dataclass(frozen=True, slots=True)
class Instruction:
    """A request with what its author could see."""

    author: Director
    seq: int
    request: Request
    wrong: str
    """Why the author's own view or the board contradicts it; empty if they do not."""
    missing: tuple[str, ...]
    """What a builder would have to guess."""
    move: Move | None
    """What a fair builder makes of it; None while something is missing."""

    @property
    def is_good(self) -> bool:
        """Clear, and right by the author's view."""
        return not self.wrong and not self.missing


def asked_in(speech: Speech) -> tuple[Request, ...] | Open:
    """What a message asks for; open if it may ask for more than was read, or give more of it."""
    details = speech.reading.whole(Detail)
    asked = details if isinstance(details, Open) else speech.reading.whole(Request)
    hidden = None if isinstance(asked, Open) else next((request for request in asked if request.place_open), None)
    return asked if hidden is None else Open(f'"{hidden.words}": which place is meant by another block is not clear')


def _instructions(game: PreparedGame, prepared: PreparedTurn, speech: Speech) -> Iterator[Instruction]:
    asked = asked_in(speech)
    for request in () if isinstance(asked, Open) else asked:
        missing = tuple(_missing(prepared.board, request, speech.agent))
        yield Instruction(
            speech.agent,
            speech.seq,
            request,
            _wrong(game, prepared, speech.agent, request),
            missing,
            _fair(prepared.board, request, missing),
        )


# -- what is left open --------------------------------------------------------------------------------


def _missing(board: Board, request: Request, author: Director) -> Iterator[str]:
    if not request.cells:
        yield "place"
    if request.verb == "remove":
        if len(request.cells) == 1 and _partner_on_wall(board, request.cells[0], author) is not None:
            yield "second cell"
        return
    if request.color is None:
        yield "colour"
    if request.size is None:
        yield "size"
    if request.size == "l" and len(request.cells) == 1:
        yield "second cell"


def _partner_on_wall(board: Board, cell: Cell, director: Director) -> Cell | None:
    """The second cell of the large block on top of a stack; None if it is small, or looks so from this wall."""
    partner = board.partner(cell, board.height(cell) - 1) if board.height(cell) and is_large(board.stack(cell)[-1]) else None
    return partner if partner in WALLS[director] else None


def _fair(board: Board, request: Request, missing: tuple[str, ...]) -> Move | None:
    """The move that a builder makes of a request who fills in nothing but the layer."""
    if missing or request.verb == "replace" or len(request.cells) > (_DOMINO if request.verb == "remove" or request.size == "l" else 1):
        return None
    cell, second = request.cells[0], request.cells[1] if len(request.cells) == _DOMINO else None
    height = board.height(cell)
    if request.verb == "remove":
        return Move("remove", None, cell, height - 1 if request.layer is None else request.layer, second)
    return Move("place", request.block, cell, height if request.layer is None else request.layer, second)


# -- what the author could see ---------------------------------------------------------------------------


def _wrong(game: PreparedGame, prepared: PreparedTurn, author: Director, request: Request) -> str:
    foreign = [cell for cell in request.cells if cell not in WALLS[author]]
    if foreign:
        return "" if _is_in_target(game, prepared.board, request) else f"{', '.join(foreign)} is not on {author}'s wall"
    if not request.cells or not game.has_view(author):
        return ""
    if request.verb == "remove":
        return _wrong_removal(game, prepared, author, request)
    return next((why for cell in request.cells if (why := _wrong_at(game, prepared.board, author, request, cell))), "")


def _is_in_target(game: PreparedGame, board: Board, request: Request) -> bool:
    """Whether the target has what is to be placed: whoever asks for it has it from another director, or guessed right."""
    if game.target is None or request.verb != "place" or request.color is None:
        return False
    at = [(game.target.stack(cell), board.height(cell) if request.layer is None else request.layer) for cell in request.cells]
    return all(layer < len(stack) and stack[layer].startswith(request.block or request.color) for stack, layer in at)


def _wrong_at(game: PreparedGame, board: Board, author: Director, request: Request, cell: Cell) -> str:
    """Why nothing of the kind belongs there, or could go there, by the author's view and the board; empty if it could."""
    height = board.height(cell)
    next_layer = height - 1 if request.verb == "replace" and height else height
    layer = next_layer if request.layer is None else request.layer
    wanted = game.shown(author, cell, layer) if layer < MAX_HEIGHT else None
    half = request.size == "l" and len(request.cells) == 1
    there = looks_like(board, author, cell, layer)
    right = there == wanted
    replaces = request.verb == "replace"
    reasons = (
        (layer >= MAX_HEIGHT, f"the stack at {cell} is full"),
        (wanted is None, f"{author}'s view has nothing at {cell} layer {layer}"),
        (
            request.verb == "place" and layer < height,
            f"the stack at {cell} is {height} high{', and what is there looks right' if right else ''}",
        ),
        (replaces and layer < height - 1, f"another block is on layer {layer} of {cell}"),
        (
            replaces and there is not None and request.old_color not in (None, there[0]),
            f"{_name(there)} is at {cell} layer {layer}",
        ),
        (
            wanted is not None and (request.color not in (None, wanted[0]) or (request.size not in (None, wanted[1]) and not half)),
            f"{author}'s view has {_name(wanted)} at {cell} layer {layer}",
        ),
        (replaces and right, f"what is at {cell} looks right in {author}'s view"),
        (request.verb == "place" and layer > height, f"the stack at {cell} is {height} high: layer {layer} has nothing to stand on"),
    )
    return next((why for is_so, why in reasons if is_so), "")


def _wrong_removal(game: PreparedGame, prepared: PreparedTurn, author: Director, request: Request) -> str:
    for cell in request.cells:
        height = prepared.board.height(cell)
        layer = height - 1 if request.layer is None else request.layer
        if not height:
            return f"nothing is at {cell}"
        if layer >= height:
            return f"the stack at {cell} is {height} high"
        if layer < height - 1:
            return f"another block is on layer {layer} of {cell}"
        if all(looks_like(prepared.board, author, cell, below) == game.shown(author, cell, below) for below in range(height)):
            return f"what is at {cell} looks right in {author}'s view"
    return ""


def looks_like(board: Board, director: Director, cell: Cell, layer: int) -> ViewedBlock | None:
    """The block of the board as a director's wall shows it: large only if both halves are on that wall."""
    stack = board.stack(cell)
    if layer >= len(stack):
        return None
    whole = is_large(stack[layer]) and board.partner(cell, layer) in WALLS[director]
    return stack[layer][0], "l" if whole else "s"


def _name(block: ViewedBlock | None) -> str:
    return "".join(block or ("nothing",))


def entailed(game: PreparedGame, prepared: PreparedTurn, director: Director) -> Iterator[Move]:
    """What a director's view asks for and the engine would carry out now: blocks that are missing, then tops that do not belong there.

    A block is missing where the stack under it looks right in colour; its size is the one it looks.
    """
    if game.has_view(director):
        yield from (move for move in _missing_blocks(game, prepared.board, director) if accepts(prepared.board, move))
        yield from (move for move in _wrong_tops(game, prepared.board, director) if accepts(prepared.board, move))


def _missing_blocks(game: PreparedGame, board: Board, director: Director) -> Iterator[Move]:
    for cell in WALLS[director]:
        layer = board.height(cell)
        wanted = game.shown(director, cell, layer) if layer < MAX_HEIGHT else None
        if wanted is None or not all(_same_color(game, board, director, cell, below) for below in range(layer)):
            continue
        code = wanted[0] + wanted[1]
        if wanted[1] == "s":
            yield Move("place", code, cell, layer)
        else:
            yield from (
                Move("place", code, cell, layer, second)
                for second in WALLS[director]
                if second != cell and game.shown(director, second, layer) == wanted
            )


def _wrong_tops(game: PreparedGame, board: Board, director: Director) -> Iterator[Move]:
    for cell in WALLS[director]:
        layer = board.height(cell) - 1
        if layer >= 0 and looks_like(board, director, cell, layer) != game.shown(director, cell, layer):
            yield Move("remove", None, cell, layer, _partner_on_wall(board, cell, director))


def _same_color(game: PreparedGame, board: Board, director: Director, cell: Cell, layer: int) -> bool:
    there, wanted = looks_like(board, director, cell, layer), game.shown(director, cell, layer)
    return there is not None and wanted is not None and there[0] == wanted[0]


def following(request: Request, move: Move) -> tuple[How, tuple[str, ...]]:
    """Compare a move with a request; gives how it follows, and in what it differs."""
    if request.verb not in (move.action, "replace"):
        return "no", ()
    covered = move.covered()
    placed = bool(request.cells)
    if placed and covered.isdisjoint(request.cells):
        same_block = request.block is not None and request.block == move.block and move.action == "place"
        return ("differs", ("place",)) if same_block else ("no", ())
    differs = [] if not placed or covered <= {*request.cells} or {*request.cells} <= covered else ["second cell"]
    if request.layer not in (None, move.layer):
        differs.append("layer")
    if move.action == "place" and move.block:
        differs += [
            name
            for name, message, done in (("colour", request.color, move.block[:1]), ("size", request.size, move.block[1:]))
            if message not in (None, done)
        ]
    if differs:
        return ("differs" if placed else "no"), tuple(differs)
    known = request.cells if move.action == "remove" else request.cells and request.color and request.size
    whole = len(request.cells) == len(covered) or not request.cells
    return ("fully" if known and whole else "partly"), ()


class Worth:
    """Values of what could have been done in a turn, by the rules of the game."""

    def __init__(self, board: Board, target: Board | None, lost: Lost) -> None:
        self._board, self._target, self._lost = board, target, lost

    @cached_property
    def stay(self) -> float:
        """What waiting would have saved; not below 0."""
        return self._saved(self._board)

    def best(self, moves: Iterable[Move]) -> tuple[float, Move | None]:
        """What the best of some moves, or waiting, would have saved, and that move; None: waiting."""
        found: tuple[float, Move | None] = (self.stay, None)
        for move in moves:
            saved = self.of(move)
            if saved > found[0]:
                found = saved, move
        return found

    def of(self, move: Move) -> float:
        """What a move would have saved; not below 0."""
        outcome = execute(self._board, move)
        return self._saved(outcome.board) if outcome.accepted else self.stay

    def _saved(self, board: Board) -> float:
        if self._target is None or self._lost.left is None:
            return 0.0
        return max(best_progress(board, self._target, self._lost.left - 1) - self._lost.after, 0.0)


NO_WORTH: Final = Worth(EMPTY_BOARD, None, Lost(0.0, 0.0, 0.0))
"""Of a turn that cost nothing: nothing could have been saved."""


BUILDER: Final = "Builder"
Agent = Director | Literal["Builder"]


class FailurePoint(NamedTuple):
    """A failure point, whatever came of it."""

    agent: Agent
    link: Link
    evidence: str


class _Followed(NamedTuple):
    instruction: Instruction
    how: How
    differs: tuple[str, ...]


@dataclass(frozen=True)
class TurnCase:
    """A turn with all that the links are read from."""

    game: PreparedGame
    prepared: PreparedTurn
    worth: Worth
    earlier: frozenset[tuple[Director, Move]] = field(default_factory=frozenset)
    """What directors asked for in the turns before."""
    removed: frozenset[tuple[str, int]] = field(default_factory=frozenset)
    """Cells and layers that were cleared before: what came back there looks right from another wall."""

    @cached_property
    def instructions(self) -> list[Instruction]:
        """What was asked for in messages that were understood in every clause."""
        return [instruction for speech in self.prepared.current for instruction in _instructions(self.game, self.prepared, speech)]

    @cached_property
    def unread_of(self) -> dict[Director, str]:
        """Directors with a message that was not understood -> which words of it.

        Where a director speaks several times in a turn, another message may give what a request leaves out.
        """
        speakers = [speech.agent for speech in self.prepared.current]
        found = {speech.agent: asked.why for speech in reversed(self.prepared.current) if isinstance(asked := asked_in(speech), Open)}
        good = {instruction.author for instruction in self.instructions if instruction.is_good}
        for instruction in self.instructions:
            if instruction.missing and instruction.author not in good and speakers.count(instruction.author) > 1:
                found.setdefault(instruction.author, f"another message may complete {instruction.request}")
        return {agent: found[agent] for agent in speakers if agent in found}

    @cached_property
    def not_understood(self) -> str:
        """Whose message was not understood, and which words of it; empty if all were."""
        return next((f"{agent}'s message was not understood whole: {why}" for agent, why in self.unread_of.items()), "")

    @cached_property
    def followed(self) -> list[_Followed]:
        """What the move has to do with each request; empty without a move."""
        move = self.prepared.attempted
        return [] if move is None else [_Followed(instruction, *following(instruction.request, move)) for instruction in self.instructions]

    @cached_property
    def same(self) -> list[Instruction]:
        """The requests that the move does not contradict, those that say most first."""
        return [found.instruction for how in ("fully", "partly") for found in self.followed if found.how == how]

    @cached_property
    def doable(self) -> list[Instruction]:
        """Clear requests, right by their authors' views, that the engine would have carried out."""
        return [
            instruction
            for instruction in self.instructions
            if instruction.is_good and instruction.move is not None and accepts(self.prepared.board, instruction.move)
        ]

    @cached_property
    def asked_well(self) -> list[Move]:
        """The moves of `doable`."""
        return [instruction.move for instruction in self.doable if instruction.move is not None]


def faulty_messages(case: TurnCase) -> Iterator[FailurePoint]:
    """What in a turn's messages was wrong, unclear or left unsaid, whether anything came of it or not.

    All messages of a director that the builder received in the turn count as one: each of them may complete or correct the others.
    """
    spoke = dict.fromkeys(speech.agent for speech in case.prepared.current)
    called = {u.agent for u in case.prepared.view.received() if u.text != FAILED_CALL_MESSAGE}
    faults = (
        *(_of_messages(case, name) for name in spoke if name not in case.unread_of),
        *(_unsaid(case, name, "is silent") for name in DIRECTORS if name in called - spoke.keys()),
    )
    yield from (fault for fault in faults if fault is not None)


def left_open(instruction: Instruction) -> str:
    """What a request leaves to guess, in words."""
    return f"{' and '.join(instruction.missing) or 'what is to be done'} left open"


def _of_messages(case: TurnCase, director: Director) -> FailurePoint | None:
    """What is to be desired in the messages of a director, all of which were understood."""
    instructions = [instruction for instruction in case.instructions if instruction.author == director]
    if any(instruction.is_good for instruction in instructions):
        return None
    for instruction in sorted(instructions, key=lambda instruction: not instruction.wrong):
        if instruction.wrong:
            return FailurePoint(director, "wrong_instruction", f"{instruction.request}: {instruction.wrong}")
        if instruction.missing:
            return FailurePoint(director, "said_unclear", f"{instruction.request}: {left_open(instruction)}")
    return _unsaid(case, director, "asks for nothing")


def _unsaid(case: TurnCase, director: Director, how: str) -> FailurePoint | None:
    asked = [move for author, move in case.earlier if author == director]
    need = next((move for move in entailed(case.game, case.prepared, director) if not followed_physical(asked, move)), None)
    if need is None or (need.action == "remove" and not _surely_wrong(case, director, need)):
        return None
    return FailurePoint(director, "not_said", f"{how}, and its view asks for: {move_text(need)}")


def _surely_wrong(case: TurnCase, director: Director, removal: Move) -> bool:
    """Whether the colour is wrong, not only the size (what is half on another wall looks small), and no one put it back after a removal."""
    wanted = case.game.shown(director, removal.position, removal.layer)
    foreign = wanted is None or wanted[0] != case.prepared.board.stack(removal.position)[-1][0]
    return foreign and (removal.position, removal.layer) not in case.removed
