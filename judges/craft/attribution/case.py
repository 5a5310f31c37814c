"""A CRAFT turn as attribution sees it: what was asked for, what was done, what each message lacks, and what other moves would have kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple

from games.craft.claims import Request
from games.craft.engine.board import DIRECTORS, EMPTY_BOARD, Board, Director
from games.craft.engine.rules import Move, accepts, execute
from games.craft.measures import followed_physical
from games.craft.text.replies import FAILED_CALL_MESSAGE
from games.craft.value.search import best_progress
from judges.attribution.findings import How, Link, Lost
from judges.claims.reading import Open
from judges.craft.attribution.requests import Instruction, asked_in, entailed, instructions_of
from judges.craft.checks.prepared import PreparedGame, PreparedTurn, move_text


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
            for name, said, done in (("colour", request.color, move.block[:1]), ("size", request.size, move.block[1:]))
            if said not in (None, done)
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
    """A broken link, whatever came of it."""

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
        return instructions_of(self.game, self.prepared)

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
        *(_unsaid(case, name, "says nothing") for name in DIRECTORS if name in called - spoke.keys()),
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
    """Whether the colour is wrong, not only the size (what is half on another wall looks small), and nobody put it back after a removal."""
    wanted = case.game.shown(director, removal.position, removal.layer)
    foreign = wanted is None or wanted[0] != case.prepared.board.stack(removal.position)[-1][0]
    return foreign and (removal.position, removal.layer) not in case.removed
