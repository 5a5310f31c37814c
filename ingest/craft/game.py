"""A logged CRAFT game as typed facts, whatever format it was logged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct

from games.craft.engine.board import Board
from games.craft.engine.move import Move

__all__ = ["BUILDER", "CraftGame", "CraftOutcome", "CraftTurn"]

BUILDER = "Builder"
"""The builder's name as an agent."""


class CraftTurn(Struct, frozen=True, kw_only=True):
    """One turn, as logged. None means that the log does not say."""

    turn: int
    """From 1."""

    board_before: Board
    board_after: Board | None
    """The snapshot of an accepted move; formats that log it for every turn give it for every turn."""

    spans_after_logged: bool
    """Whether ``board_after`` holds the log's span records, or only stacks."""

    written: Move | None
    """The move as the builder wrote it (blanks inside coordinates make ghost cells); None without a move."""

    attempted: Move | None
    """The move as the engine logged it."""

    accepted: bool | None
    error_text: str | None
    """The engine's refusal."""

    listed: tuple[Move, ...] | None
    """The candidates the builder was shown, empty if there were none; None on clarifications and broken turns."""

    followed: bool | None
    flags: Mapping[str, bool | None]
    """Logged placement flags of an accepted move."""

    metrics: Mapping[str, float]
    """Logged metrics after an accepted move, counts included."""

    goal_reached: bool | None
    unreadable: str | None
    """Why the builder's reply could not be read; None if it could, or none came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftOutcome:
    """The end of a game, as logged. None means that the log does not say."""

    completed: bool | None
    progress: float | None
    turns_taken: int | None
    board: Board | None
    spans_logged: bool
    """Whether ``board`` holds the log's span records, or only stacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftGame:
    """One game, as logged."""

    structure_id: str
    complexity: str
    target: Board
    start: Board | None
    """The start board that the conditions promise; None if they name none that the engine knows."""

    num_oracle: int | None
    """Most candidates listed a turn; None for a game without oracle."""

    max_turns: int | None
    """Turn limit; None if the log does not say."""

    turns: tuple[CraftTurn, ...]
    outcome: CraftOutcome | None
    """None for a game that was cut or still runs."""
