"""The CRAFT environment: who acts next, what an agent may see, what its text does.

======================= =====================================================================
agents                  ``D1``, ``D2``, ``D3`` (directors), ``builder``
a turn                  three director slots drawn with replacement, then the builder
director's text         reasoning and message
builder's text          a PLACE, REMOVE or CLARIFY line
texts are read by       ``replies``; under the published rules by ``director_output`` and ``builder``
end                     progress >= 0.95 after an accepted move, or ``max_turns`` turns
======================= =====================================================================

The turn order follows the published loop, drawn from a generator of the game's own: the same
structure, settings and seed give the same game for the same texts.

A logged game, recomputed move by move.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from msgspec import Struct
from pydantic import AliasChoices, Field

from games.craft.engine.board import DIRECTORS, Board, Director, View, ViewKind, all_views, director_view
from games.craft.engine.rules import DEFAULT_SAMPLE, Flags, Move, MoveError, Outcome, candidates, execute, placement_flags, sample
from games.craft.measures import COMPLETION_THRESHOLD, Metrics, progress
from games.craft.targets import StartBoard, Structure, start_board
from games.craft.text import prompts, replies
from games.settings import MOST, Settings
from schemas.common.errors import UsageError

Rules = Literal["sane", "published"]
"""Published: prompts, reading of replies, and messages that the builder receives are those of the released code."""

_SLOTS: Final = 3
"""Most director calls in a turn."""

Agent = Literal["D1", "D2", "D3", "builder"]
AGENTS: Final[tuple[Agent, ...]] = get_args(Agent)

StopReason = Literal["target_achieved", "max_turns_reached"]


def kept(answers: Sequence[tuple[Director, replies.DirectorAnswer]]) -> list[int]:
    """Give the places of each director's last answer of a turn: what the released code lets the builder read."""
    last = {director: number for number, (director, _) in enumerate(answers)}
    return sorted(last.values())


def _last(lines: tuple[str, ...], limit: int | None) -> tuple[str, ...]:
    return lines if limit is None else lines[len(lines) - min(limit, len(lines)) :]


class GameSettings(Settings):
    """The switches of a game. The defaults are those of the paper's oracle condition."""

    oracle: bool = Field(default=True, serialization_alias="use_oracle", description="Show the builder verified moves.")
    num_oracle: int = Field(default=DEFAULT_SAMPLE, ge=1, description="Most verified moves that are shown in a turn.")
    max_turns: int = Field(default=20, ge=1, le=MOST, validation_alias=AliasChoices("turns", "max_turns"), description="Turn limit.")
    start: StartBoard = Field(default="empty", serialization_alias="start_board", description="Board before turn 1.")
    same_turn_messages: bool = Field(
        default=False,
        description="Directors hear who spoke earlier in the turn (paper and remembering scripts: yes; released code: no).",
    )
    speakers: int = Field(default=3, ge=1, le=_SLOTS, description="Director calls in a turn, drawn with replacement.")
    history_limit: int | None = Field(
        default=None, ge=0, description="Last lines of the conversation that directors are shown; as published the last 40 of more than 50."
    )
    simulations: int = Field(default=0, ge=0, description="Moves that the builder may try in a turn (paper: 3); 0: it has no tool.")
    provider_tool: bool = Field(
        default=False,
        description="Models call the simulation as a tool of their provider, not by lines of text.",
    )
    rules: Rules = Field(
        default="sane", description="Prompts, reading of replies and messages that reach the builder; published: as in the released code."
    )


PAPER: Final = GameSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A finished turn."""

    turn: int
    answers: tuple[tuple[Director, replies.DirectorAnswer], ...]
    """Every director call in order; a director can occur repeatedly."""
    board_before: Board
    candidates: tuple[Move, ...]
    """All candidates before the move, whether shown or not."""
    listed: tuple[Move, ...]
    builder_text: str
    """The builder's answer as given."""
    clarification: str | None
    """The builder's question; None if it asked nothing."""
    unreadable: str | None
    """Why the builder's reply could not be read; None if it could."""
    written: Move | None
    """The move as written; None without one."""
    confirmation: str | None
    outcome: Outcome | None
    """What the engine did with the move; None without one."""
    flags: Flags | None
    """None unless a move was accepted."""
    board_after: Board
    metrics: Metrics
    """Scores of ``board_after``."""
    history: tuple[str, ...]
    """The conversation after the turn, before it is trimmed for the next one."""


@dataclass(frozen=True, slots=True)
class GameState:
    """Everything about a running game, targets included: for logs and tests, not for agents."""

    turn: int
    """The turn being played, from 1; after the end, the last one played."""
    speakers: tuple[Director, ...]
    """The directors of this turn in order of speaking; empty after the end."""
    board: Board
    candidates: tuple[Move, ...]
    listed: tuple[Move, ...]
    metrics: Metrics
    history: tuple[str, ...]
    next_agent: Agent | None
    """Who acts next; None after the end."""
    stop_reason: StopReason | None


@dataclass(slots=True)
class _Turn:
    """What is fixed when a turn begins, and the answers as they come in."""

    number: int
    speakers: tuple[Director, ...]
    candidates: tuple[Move, ...]
    listed: tuple[Move, ...]
    answers: list[tuple[Director, replies.DirectorAnswer]] = field(default_factory=list)
    views: dict[Director, View] = field(default_factory=dict)
    """Of the board, which stays as it is until the builder acts; empty until they are asked for."""

    @property
    def next_agent(self) -> Agent:
        spoken = len(self.answers)
        return self.speakers[spoken] if spoken < len(self.speakers) else "builder"


class Game:
    """One game of CRAFT."""

    agents: Final = AGENTS

    def __init__(
        self,
        structure: Structure,
        settings: GameSettings = PAPER,
        *,
        seed: int = 0,
        speakers: Sequence[tuple[Director, ...]] = (),
        target_views: ViewKind = "spans",
    ) -> None:
        """Set up the start board and draw the first turn's speakers.

        Args:
            structure: the target.
            settings: the conditions.
            seed: fixes who speaks.
            speakers: who speaks in the first turns, in place of those drawn: a game that is played again from a log has its own.
            target_views: how directors are shown their part of the target; the board is always shown as ``spans``.
        """
        self.structure = structure
        self.settings = settings
        self.seed = seed
        self.target_views: Final = target_views
        self._given_speakers = speakers
        self.turns: list[TurnRecord] = []
        """Finished turns."""
        self.stop_reason: StopReason | None = None
        self._rng = random.Random(f"craft-game:{structure.structure_id}:{seed}")
        self._board = start_board(structure.target, settings.start)
        self._metrics = progress(self._board, structure.target)
        self._history: tuple[str, ...] = ()
        self._turn = self._begin_turn()

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.stop_reason is not None

    @property
    def next_agent(self) -> Agent | None:
        """Who acts next; None after the end."""
        return None if self.done else self._turn.next_agent

    @property
    def speakers(self) -> tuple[Director, ...]:
        """The directors of this turn in order of speaking; empty after the end."""
        return () if self.done else self._turn.speakers

    def state(self) -> GameState:
        """Give everything about the game as it is now."""
        turn = self._turn
        return GameState(
            turn=turn.number,
            speakers=self.speakers,
            board=self._board,
            candidates=turn.candidates,
            listed=turn.listed,
            metrics=self._metrics,
            history=self._history,
            next_agent=self.next_agent,
            stop_reason=self.stop_reason,
        )

    def observe(self, agent: Agent) -> prompts.DirectorObservation | prompts.BuilderObservation:
        """Give what an agent may see now."""
        if agent == "builder":
            return self.observe_builder()
        return self.observe_director(agent)

    def observe_director(self, director: Director, own: Sequence[str] | None = None) -> prompts.DirectorObservation:
        """Give what a director may see now; `own`: its replies of this turn that the game does not have yet, None if it has them all."""
        answers = [answer for name, answer in self._turn.answers if name == director] if own is None else map(self.read, own)
        heard = [prompts.director_line(*answer) for answer in self._turn.answers] if self.settings.same_turn_messages else []
        self._turn.views = self._turn.views or all_views(self._board)
        return prompts.DirectorObservation(
            director=director,
            turn=self._turn.number,
            target_view=director_view(self.structure.target, director, self.target_views),
            board_views=dict(self._turn.views),
            history=_last((*self._history, *heard), self.settings.history_limit),
            earlier=() if self.settings.rules == "published" else tuple(answer.message for answer in answers),
            unread=self.settings.rules == "sane" and self._was_silent(director),
        )

    def _was_silent(self, director: Director) -> bool:
        """Whether the last reply of a director in an earlier turn had no message."""
        spoken = (answer for turn in reversed(self.turns) for name, answer in reversed(turn.answers) if name == director)
        last = next(spoken, None)
        return last is not None and last.message in ("", replies.NO_MESSAGE)

    def observe_builder(self) -> prompts.BuilderObservation:
        """Give what the builder may see now."""
        turn = self._turn
        answers = turn.answers if self.settings.rules == "sane" else [turn.answers[number] for number in kept(turn.answers)]
        unread = self.turns[-1].unreadable if self.turns and self.settings.rules == "sane" else None
        unread = None if unread is None or replies.no_reply_came(unread) else unread
        return prompts.BuilderObservation(turn.number, self._board, prompts.discussion(answers), turn.listed, unread=unread)

    def read(self, text: str) -> replies.DirectorAnswer:
        """Read a director's reply by the rules of this game."""
        return replies.parse_director(text) if self.settings.rules == "published" else replies.read_director(text)

    def act(self, agent: Agent, text: str, *, failed: bool = False) -> TurnRecord | None:
        """Let an agent say its text; the builder's text ends the turn and gives its record.

        Args:
            agent: who acts.
            text: the reply.
            failed: of the builder: no reply came, and the text is the reason.

        Raises:
            UsageError: the game is over, or it is another agent's turn to act.
        """
        if self.done:
            raise UsageError(f"{agent} cannot act: the game ended after turn {self._turn.number} ({self.stop_reason}); start a new game")
        if agent != self._turn.next_agent:
            raise UsageError(f"{agent} cannot act in turn {self._turn.number}: it is for {self._turn.next_agent} to act; see next_agent")
        if agent != "builder":
            self._turn.answers.append((agent, self.read(text)))
            return None
        return self._finish_turn(text, replies.Unreadable(text) if failed else self._read_builder(text))

    def _read_builder(self, text: str) -> replies.Answer:
        if self.settings.rules == "sane":
            return replies.read_answer(text)
        parsed = replies.parse_answer(text)
        return (
            replies.Unreadable(parsed.text) if isinstance(parsed, replies.Clarification) and replies.is_complaint(parsed.text) else parsed
        )

    def _begin_turn(self) -> _Turn:
        speakers = self._rng.choices(DIRECTORS, k=self.settings.speakers)
        self._rng.shuffle(speakers)
        number = len(self.turns) + 1
        if number <= len(self._given_speakers):
            speakers = list(self._given_speakers[number - 1])
        found = candidates(self._board, self.structure.target)
        listed = sample(found, self.settings.num_oracle, number) if self.settings.oracle else ()
        return _Turn(number, tuple(speakers), found, listed)

    def _finish_turn(self, text: str, parsed: replies.Answer) -> TurnRecord:
        turn, before = self._turn, self._board
        lines = [prompts.director_line(*answer) for answer in turn.answers]
        clarification = unreadable = written = confirmation = outcome = flags = None
        if isinstance(parsed, replies.Unreadable):
            unreadable = parsed.reason
            lines.append(prompts.builder_line(unreadable if self.settings.rules == "published" else prompts.UNREADABLE))
        elif isinstance(parsed, replies.Clarification):
            clarification = parsed.text
            lines.append(prompts.builder_line(clarification))
        else:
            written, confirmation = parsed.move, parsed.confirmation
            outcome = execute(before, written)
            self._board = outcome.board
            if outcome.accepted:
                self._metrics, flags = progress(self._board, self.structure.target), placement_flags(outcome, self.structure.target)
            lines += [prompts.builder_line(confirmation), prompts.result_line(outcome)]
        self._history = (*self._history, *lines)
        record = TurnRecord(
            turn=turn.number,
            answers=tuple(turn.answers),
            board_before=before,
            candidates=turn.candidates,
            listed=turn.listed,
            builder_text=text,
            clarification=clarification,
            unreadable=unreadable,
            written=written,
            confirmation=confirmation,
            outcome=outcome,
            flags=flags,
            board_after=self._board,
            metrics=self._metrics,
            history=self._history,
        )
        self.turns.append(record)
        if flags is not None and self._metrics.overall_progress >= COMPLETION_THRESHOLD:
            self.stop_reason = "target_achieved"
        elif len(self.turns) >= self.settings.max_turns:
            self.stop_reason = "max_turns_reached"
        else:
            self._history = prompts.trimmed(self._history)
            self._turn = self._begin_turn()
        return record


class ReplayedTurn(Struct, frozen=True, kw_only=True):
    """A turn, recomputed."""

    turn: int
    """From 1."""
    board_before: Board
    board_after: Board
    attempted: Move | None
    """The move as the engine logs it; None where the log has none (clarification, crash)."""
    error: MoveError | None
    """Why the engine refused the move; None if it did not, and without a move."""
    candidates: tuple[Move, ...]
    """All candidates before the move, in cell order, also on turns without a move."""
    metrics: Metrics
    """Scores of ``board_after``."""
    flags: Flags | None
    """None unless a move was accepted."""
    target_achieved: bool
    """Whether progress after the last accepted move so far is at least 0.95."""

    @property
    def accepted(self) -> bool:
        """Whether there was a move and the engine carried it out."""
        return self.attempted is not None and self.error is None


def replay(start: Board, target: Board, moves: Iterable[Move | None]) -> Iterator[ReplayedTurn]:
    """Recompute a game, one turn at a time.

    Args:
        start: the board before turn 1.
        target: the goal with its spans.
        moves: one entry a turn, as the builder wrote it (``builder_move_raw``: the tidied move of a log
            has lost the blanks that make ghost cells); None for a turn without a move.
    """
    board, metrics, achieved = start, progress(start, target), False
    for turn, move in enumerate(moves, start=1):
        found = candidates(board, target)
        before, attempted, error, flags = board, None, None, None
        if move is not None:
            outcome = execute(board, move)
            board, attempted, error = outcome.board, outcome.move, outcome.error
            if error is None:
                metrics, flags = progress(board, target), placement_flags(outcome, target)
                achieved = metrics.overall_progress >= COMPLETION_THRESHOLD
        yield ReplayedTurn(
            turn=turn,
            board_before=before,
            board_after=board,
            attempted=attempted,
            error=error,
            candidates=found,
            metrics=metrics,
            flags=flags,
            target_achieved=achieved,
        )
