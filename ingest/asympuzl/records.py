"""The lines of an AsymPuzl log as typed records (format: docs/asympuzl.md), and sorted into games."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.asympuzl.answer import FAULTS, RequestedAction
from games.asympuzl.game import FeedbackMode
from games.asympuzl.puzzle import AGENTS, MAX_SIZE, Agent, Entry, Puzzle
from games.asympuzl.record import SCHEMA
from ingest.reading.adapter_types import validated
from ingest.reading.text import loads
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**31)]
Turn = Annotated[int, Field(ge=1, lt=2**31)]
_Size = Annotated[int, Field(ge=1, le=MAX_SIZE)]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class EntryRecord(_Record):
    """What a position holds."""

    shape: str
    color: str | None = None


def entries(records: Iterable[EntryRecord]) -> tuple[Entry, ...]:
    """The entries in the spelling that the rules compare: trimmed, lower case."""
    return tuple(Entry(_word(record.shape), None if record.color is None else _word(record.color)) for record in records)


def _word(text: str) -> str:
    return text.strip().lower()


class GameRecord(_Record):
    """The first line of a game."""

    model_config = ConfigDict(strict=True, extra="allow")

    schema_: str = Field(alias="schema")
    run_id: str
    game_id: str
    size: _Size
    seed: Int | None = None
    max_turns: Count | None = None
    history_length: Count | None = None
    feedback_mode: FeedbackMode
    model_a: str
    model_b: str
    temperature: float | int | None = None
    max_output_tokens: Count | None = None
    tokenizer: str | None = None
    scripted: bool = False
    truth: list[EntryRecord]
    clues_a: list[EntryRecord]
    clues_b: list[EntryRecord]

    @model_validator(mode="after")
    def _as_many_as_positions(self) -> Self:
        for name in ("truth", "clues_a", "clues_b"):
            listed = len(getattr(self, name))
            if listed != self.size:
                raise ValueError(f"{name} has {listed} entries, the puzzle {self.size} positions")
        return self

    def puzzle(self) -> Puzzle:
        """The puzzle as logged."""
        return Puzzle(entries(self.truth), entries(self.clues_a), entries(self.clues_b))


class ActionRecord(_Record):
    """An action as the log's own game understood it."""

    replace: Any = None
    shape: str | None = None
    color: str | None = None
    valid: bool
    reason: str | None = None
    index: Int | None = None
    before: EntryRecord | None = None
    after: EntryRecord | None = None
    changed: bool | None = None
    right_before: bool | None = None
    right_after: bool | None = None

    def request(self) -> RequestedAction:
        """The action for the rules; an invalid one whose reason they do not know counts as wrong in form."""
        place = self.replace if isinstance(self.replace, int) and not isinstance(self.replace, bool) else None
        shape, color = (None if text is None else _word(text) for text in (self.shape, self.color))
        if self.valid and place is not None and shape is not None and color is not None:
            return RequestedAction(place, shape, color, None)
        return RequestedAction(place, shape, color, next((fault for fault in FAULTS if fault == self.reason), "bad_structure"))


class TurnRecord(_Record):
    """An agent's turn."""

    game_id: str
    turn: Turn
    agent: Agent
    raw_output: str
    parse_ok: bool | None = None
    parse_strict: bool | None = None
    message_ok: bool | None = None
    actions_ok: bool | None = None
    message: str
    actions: list[ActionRecord]
    hypothesis_after: list[EntryRecord]
    own_ok_after: bool | None = None
    wrong_after: list[Int] | None = None
    feedback: dict[str, Any] | None = None
    received: list[Any] | None = None
    output_tokens: Count | None = None
    message_tokens: Count | None = None


class ResultRecord(_Record):
    """The last line of a game."""

    type: Literal["result"]
    game_id: str
    solved: bool
    turns: Count | None = None
    solved_turn: Turn | None = None
    solved_turn_a: Turn | None = None
    solved_turn_b: Turn | None = None
    writes_a: Sequence[Int] | None = None
    writes_b: Sequence[Int] | None = None
    changes_a: Sequence[Int] | None = None
    changes_b: Sequence[Int] | None = None


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
        """Take a line over; `is_last`: no line break follows it."""
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
                reason = f"{game.reject.reason}, {len(game.lost)} lines of game {excerpt(game.record.game_id)} are lost"
                self._lines.rejects.append(BadInputError(reason, locator=game.reject.locator, excerpt=game.reject.excerpt))
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
                f"a second game with the id {excerpt(record.game_id)}: its lines look like the first game's; it is lost; "
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
        game.result = validated(ResultRecord, value, consequence="the game is stored without its result")

    def _game_of(self, value: dict[str, Any]) -> LoggedGame | None:
        """The game that a line belongs to; None if that game was refused, which is reported once."""
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
        raise BadInputError("comes after the result of its game")
    turn = validated(TurnRecord, value, consequence="the game is stored up to the turn before")
    due = (len(game.turns) // 2 + 1, AGENTS[len(game.turns) % 2])
    if (turn.turn, turn.agent) != due:
        raise BadInputError(
            f"turn {turn.turn} of {turn.agent} is out of order, turn {due[0]} of {due[1]} is due; the game is stored up to there",
            locator=".turn",
        )
    listed = len(turn.hypothesis_after)
    if listed != game.record.size:
        raise BadInputError(
            f"the hypothesis has {listed} entries, the puzzle {game.record.size} positions; the game is stored up to the turn before",
            locator=".hypothesis_after",
        )
    return turn
