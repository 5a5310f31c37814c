"""Sorts the lines of an AsymPuzl log into games. A line that cannot be used becomes a reject; the lines around it stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from games.asympuzl.puzzle import AGENTS
from games.asympuzl.record import SCHEMA
from ingest.asympuzl.records import GameRecord, ResultRecord, TurnRecord
from ingest.reading.json_text import loads
from ingest.reading.malformed import validated
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["LogFile", "LoggedGame", "sort_lines"]


@dataclass(slots=True)
class LoggedGame:
    """A game as far as it can be read."""

    record: GameRecord
    index: int
    """From 0, place among the `game` lines of the file, those included that cannot be used."""

    turns: list[TurnRecord] = field(default_factory=list)
    """A, B, A, B, ... from turn 1 on, without a hole."""

    result: ResultRecord | None = None
    lost: list[int] = field(default_factory=list)
    """Numbers of lines of turns that could not be used, or stand behind a hole."""

    reject: BadInputError | None = None
    """Why the first of them could not."""

    unfinished_bytes: int = 0
    """Length of a last line that is still being written."""


@dataclass(slots=True)
class LogFile:
    """A whole file."""

    games: list[LoggedGame] = field(default_factory=list)
    """In the order of their first lines."""

    rejects: list[BadInputError] = field(default_factory=list)


def sort_lines(data: bytes) -> LogFile:
    """Read a file; games may be mixed, a game's own lines must be in order."""
    sorter = _Sorter()
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if line and not line.isspace():
            sorter.take(line, number, is_last=number == len(lines))
    return sorter.finish()


class _Sorter:
    def __init__(self) -> None:
        self._lines = LogFile()
        self._open: dict[str, LoggedGame] = {}
        """Games by id; one that was refused is not among them."""

        self._refused: set[str] = set()
        self._latest: LoggedGame | None = None
        self._seen = 0
        """Number of `game` lines so far."""

        self._takers: Final[dict[str, Callable[[dict[str, Any], int], None]]] = {
            "game": self._game,
            "turn": self._turn,
            "result": self._result,
        }

    def take(self, line: bytes, number: int, *, is_last: bool) -> None:
        """Take a line over; `is_last`: no line break stands behind it."""
        try:
            value = loads(line)
        except BadInputError as error:
            if is_last and self._latest is not None and self._latest.result is None:
                self._latest.unfinished_bytes = len(line)  # still being written, or cut: what is there is the game
            else:
                self._refuse(BadInputError(error.reason, excerpt=error.excerpt), number)  # its own locator counts inside the line
            return
        try:
            self._sort(value, number)
        except BadInputError as error:
            self._refuse(error, number)

    def finish(self) -> LogFile:
        """All games, and a reject for each that has lost turns."""
        for game in self._lines.games:
            if game.reject is not None:
                self._lines.rejects.append(_with_count(game.reject, game))
        return self._lines

    def _refuse(self, error: BadInputError, number: int) -> None:
        self._lines.rejects.append(BadInputError(error.reason, locator=f"line {number}{error.locator}", excerpt=error.excerpt))

    def _sort(self, value: Any, number: int) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        taker = self._takers.get(kind) if isinstance(kind, str) else None
        if taker is None:
            raise BadInputError(
                f"no line of an AsymPuzl log: its `type` is none of {', '.join(self._takers)}", excerpt=excerpt(repr(value))
            )
        taker(value, number)

    def _game(self, value: dict[str, Any], number: int) -> None:  # noqa: ARG002 - one face for every kind of line
        name = value.get("game_id")
        self._seen += 1
        if value.get("schema") != SCHEMA:
            self._refused.add(str(name))
            raise BadInputError(
                f"schema {excerpt(repr(value.get('schema')))} is not {SCHEMA}, the one that cotrace reads: the game is lost",
                locator=".schema",
            )
        try:
            record = validated(GameRecord, value, consequence="the game is lost")
        except BadInputError:
            self._refused.add(str(name))
            raise
        if record.game_id in self._open:
            raise BadInputError(
                f"a second game with the id {excerpt(record.game_id)}: its lines could not be told from the first one's, so it is lost; "
                "give each game an id of its own",
                locator=".game_id",
            )
        self._latest = self._open[record.game_id] = LoggedGame(record, self._seen - 1)
        self._lines.games.append(self._latest)

    def _turn(self, value: dict[str, Any], number: int) -> None:
        game = self._game_of(value)
        if game is None:
            return
        self._latest = game
        if game.reject is not None:
            game.lost.append(number)
            return
        try:
            game.turns.append(_next_turn(value, game))
        except BadInputError as error:
            game.reject = BadInputError(error.reason, locator=f"line {number}{error.locator}", excerpt=error.excerpt)
            game.lost.append(number)

    def _result(self, value: dict[str, Any], number: int) -> None:  # noqa: ARG002
        game = self._game_of(value)
        if game is None:
            return
        self._latest = game
        if game.result is not None:
            raise BadInputError("a second result of the same game; the first one counts")
        game.result = validated(ResultRecord, value, consequence="the game is kept without its result")

    def _game_of(self, value: dict[str, Any]) -> LoggedGame | None:
        """The game that a line belongs to; None if that game was refused, which is told once."""
        name = value.get("game_id")
        if isinstance(name, str) and name in self._open:
            return self._open[name]
        if str(name) in self._refused:
            return None
        raise BadInputError(
            f"belongs to a game ({excerpt(repr(name))}) whose `game` line does not stand before it: copy the whole file again",
            locator=".game_id",
        )


def _next_turn(value: dict[str, Any], game: LoggedGame) -> TurnRecord:
    if game.result is not None:
        raise BadInputError("stands behind the result of its game")
    turn = validated(TurnRecord, value, consequence="the game is kept up to the turn before")
    due = (len(game.turns) // 2 + 1, AGENTS[len(game.turns) % 2])
    if (turn.turn, turn.agent) != due:
        raise BadInputError(
            f"turn {turn.turn} of {turn.agent} stands where turn {due[0]} of {due[1]} is due; the game is kept up to there", locator=".turn"
        )
    listed = len(turn.hypothesis_after)
    if listed != game.record.size:
        raise BadInputError(
            f"the hypothesis has {listed} entries, the puzzle {game.record.size} positions; the game is kept up to the turn before",
            locator=".hypothesis_after",
        )
    return turn


def _with_count(error: BadInputError, game: LoggedGame) -> BadInputError:
    reason = f"{error.reason}, {len(game.lost)} lines of game {excerpt(game.record.game_id)} are lost"
    return BadInputError(reason, locator=error.locator, excerpt=error.excerpt)
