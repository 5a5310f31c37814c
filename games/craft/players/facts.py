"""What is known about a finished turn: the plans behind the texts, the boards, the candidates, the move."""

from dataclasses import dataclass
from functools import cached_property

from games.craft.engine.blocks import CELL_INDEX, WALLS, Cell, Director, is_large
from games.craft.engine.board import Board
from games.craft.engine.move import Move
from games.craft.engine.views import View, ViewedBlock, all_views, director_view
from games.craft.game import TurnRecord
from games.craft.players.builders import BuilderDecision
from games.craft.players.instruction import Instruction
from games.craft.players.plan import Plan
from games.craft.players.sight import BuiltMove
from games.craft.text.director_output import NO_MESSAGE, NO_THINKING, DirectorAnswer

Answer = tuple[str, str] | None
"""An answer and its basis; None where it is a matter of taste."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What one director thought and said in a turn; of several calls the last, whose plan is the same."""

    turn: int
    director: Director
    plan: Plan
    answer: DirectorAnswer

    @property
    def thinks(self) -> bool:
        """Whether the log shows the reasoning of the plan."""
        return self.answer.thinking != NO_THINKING and self.plan.fault != "output_api_error"

    @property
    def speaks(self) -> bool:
        """Whether others can read the message of the plan."""
        return self.answer.message not in ("", NO_MESSAGE) and self.plan.fault != "output_api_error"

    @property
    def said(self) -> Instruction | None:
        """What others can read of the plan."""
        return self.plan.said if self.speaks else None

    def owns(self, cells: frozenset[Cell]) -> bool:
        """Tell whether all cells lie on this director's wall."""
        return cells <= set(WALLS[self.director])


@dataclass(frozen=True, kw_only=True)
class TurnFacts:
    """One finished turn, seen from outside."""

    record: TurnRecord
    target: Board
    voices: tuple[Voice, ...]
    """One a director that spoke, in order of first speaking."""

    earlier: tuple[Voice, ...]
    """The same of all turns before."""

    done: tuple[BuiltMove, ...]
    """The moves of all turns before."""

    decision: BuilderDecision

    @property
    def board(self) -> Board:
        """The board the directors spoke about."""
        return self.record.board_before

    @property
    def listed(self) -> tuple[Move, ...]:
        """The candidates the builder was shown."""
        return self.record.listed

    def others(self, voice: Voice) -> list[Voice]:
        """Give the other directors with a readable message in this turn."""
        return [other for other in self.voices if other.director != voice.director and other.speaks]

    def target_block(self, cell: Cell, layer: int) -> str | None:
        """Give the block that belongs there; None if none does."""
        return _at(self.target, cell, layer)

    def block(self, cell: Cell, layer: int) -> str | None:
        """Give the block that stands there; None if none does."""
        return _at(self.board, cell, layer)

    def is_right(self, cell: Cell, layer: int) -> bool:
        """Tell whether the block that belongs there stands there."""
        block = self.block(cell, layer)
        return block is not None and block == self.target_block(cell, layer)

    def looks_right(self, director: Director, cell: Cell, layer: int) -> bool:
        """Tell whether a place of the own wall shows the same colour and apparent size as in the target."""
        seen = _entry(director_view(self.board, director), director, cell, layer)
        return seen is not None and seen == self.shown(director, cell, layer)

    def shown(self, director: Director, cell: Cell, layer: int) -> ViewedBlock | None:
        """Give the target's block as the director's wall shows it."""
        return _entry(self._target_views[director], director, cell, layer)

    def hides_large(self, director: Director, cell: Cell, layer: int) -> bool:
        """Tell whether the target has a large block there that looks small on this wall."""
        shown = self.shown(director, cell, layer) if cell in WALLS[director] else None
        return shown is not None and shown.size == 1 and is_large(self.target_block(cell, layer) or "")

    @cached_property
    def _target_views(self) -> dict[Director, View]:
        return all_views(self.target)


def _at(board: Board, cell: Cell, layer: int) -> str | None:
    stack = board.stacks[CELL_INDEX[cell]]
    return stack[layer] if 0 <= layer < len(stack) else None


def _entry(view: View, director: Director, cell: Cell, layer: int) -> ViewedBlock | None:
    block = view[layer][WALLS[director].index(cell)]
    return None if block.color == "none" else block
