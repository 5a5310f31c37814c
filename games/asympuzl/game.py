"""The AsymPuzl environment: who answers next, what an agent may see, what its answer does.

======================= =====================================================================
agents                  ``A`` (Alice, begins) and ``B`` (Bob)
a turn                  A answers, then B, who already has A's new message
answer                  free text that ends with ``{"message": ..., "actions": [...]}``
end                     both working hypotheses are right at the end of a turn, or the turn limit
======================= =====================================================================

Format description: sections 3 to 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import AliasChoices, Field

from games.asympuzl.answer import Answer, parse_answer
from games.asympuzl.feedback import Feedback, FeedbackMode, feedback, feedback_lines
from games.asympuzl.hypothesis import Applied, apply
from games.asympuzl.prompts import Heard, form_faults, system_prompt, user_prompt
from games.asympuzl.puzzle import AGENTS, MAX_SIZE, Agent, Entry, Puzzle, generate, wrong_positions
from games.asympuzl.tokens import DEFAULT_TOKENIZER
from games.settings import MOST, Settings
from schemas.errors import UsageError

StopReason = Literal["solved", "max_turns"]


class GameSettings(Settings):
    """The switches of a game."""

    size: int = Field(default=5, ge=1, le=MAX_SIZE, description="Positions of the puzzle.")
    mode: FeedbackMode = Field(
        default="both",
        validation_alias=AliasChoices("feedback", "mode"),
        serialization_alias="feedback_mode",
        description="Feedback after a turn.",
    )
    history_length: int = Field(
        default=1,
        ge=1,
        le=MOST,
        validation_alias=AliasChoices("history", "history_length"),
        description="Last messages of each that are shown.",
    )
    max_turns: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        validation_alias=AliasChoices("turns", "max_turns"),
        description="Turn limit; by default twice the number of positions, as in the paper.",
    )
    tokenizer: str = Field(default=DEFAULT_TOKENIZER, description="Who counts tokens: regex-v1, or tiktoken:ENCODING.")


PAPER: Final = GameSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class PuzzleView:
    """All that an agent may see."""

    agent: Agent
    turn: int
    clues: tuple[Entry, ...]
    hypothesis: tuple[Entry, ...]
    told: Feedback | None
    """Feedback on the previous turn; None where there is none."""

    conversation: tuple[Heard, ...]
    """In time order."""

    system: str
    user: str
    """The two messages for a language model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """One answer of one agent, and what it did."""

    turn: int
    agent: Agent
    answer: Answer
    applied: tuple[Applied, ...]
    before: tuple[Entry, ...]
    """The agent's hypothesis before the answer."""

    after: tuple[Entry, ...]
    wrong_after: tuple[int, ...]
    raw: str

    @property
    def ok_after(self) -> bool:
        """Whether the agent's part is right."""
        return not self.wrong_after


@dataclass(frozen=True, slots=True, kw_only=True)
class GameState:
    """Everything about a running game, truth included: for logs and tests, not for agents."""

    turn: int
    """The turn that is being played; after the end the last one."""

    next_agent: Agent | None
    hypotheses: Mapping[Agent, tuple[Entry, ...]]
    truth: tuple[Entry, ...]
    progress: float
    """Share of right entries in both hypotheses, 0 to 1."""

    stop_reason: StopReason | None
    success: bool


def answer_turn(puzzle: Puzzle, *, turn: int, agent: Agent, before: Sequence[Entry], raw: str) -> AgentTurn:
    """What an answer does to the agent's hypothesis; nothing but these arguments matters."""
    answer = parse_answer(raw, puzzle.vocabulary)
    after, applied = apply(before, answer.requests, puzzle.truth)
    wrong = wrong_positions(after, puzzle.truth)
    return AgentTurn(turn=turn, agent=agent, answer=answer, applied=applied, before=tuple(before), after=after, wrong_after=wrong, raw=raw)


def conversation(messages: Sequence[Heard], history_length: int) -> tuple[Heard, ...]:
    """The last messages of each agent out of all so far, in time order."""
    kept = {agent: [heard for heard in messages if heard.agent == agent][-history_length:] for agent in AGENTS}
    return tuple(heard for heard in messages if heard in kept[heard.agent])


class Game:
    """One game of AsymPuzl."""

    agents: Final = AGENTS

    def __init__(self, puzzle: Puzzle, settings: GameSettings = PAPER) -> None:
        """Hand out the clues."""
        self.max_turns: Final = 2 * puzzle.size if settings.max_turns is None else settings.max_turns
        self.puzzle: Final = puzzle
        self.settings: Final = settings
        self._turns: list[AgentTurn] = []
        self._hypotheses: dict[Agent, tuple[Entry, ...]] = {agent: puzzle.clues(agent) for agent in AGENTS}
        self._told: dict[Agent, Feedback | None] = dict.fromkeys(AGENTS)

    @classmethod
    def drawn(cls, *, size: int, seed: int, settings: GameSettings = PAPER) -> Game:
        """Set up a generated game: the same arguments, the same game.

        Raises:
            UsageError: there are no puzzles of that size.
        """
        return cls(generate(size=size, seed=seed), settings)

    @property
    def answers(self) -> Sequence[AgentTurn]:
        """What was answered so far, two a turn."""
        return self._turns

    @property
    def turn(self) -> int:
        """The turn that is being played, from 1; after the end the last one."""
        return max(1, (len(self._turns) + 1) // 2) if self.done else len(self._turns) // 2 + 1

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.stop_reason is not None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the game is over; None while it runs."""
        if not self._turns or len(self._turns) % 2:
            return None
        if self._progress() == 1:
            return "solved"
        return "max_turns" if len(self._turns) >= 2 * self.max_turns else None

    @property
    def next_agent(self) -> Agent | None:
        """Who answers next; None after the end."""
        return None if self.done else AGENTS[len(self._turns) % 2]

    def state(self) -> GameState:
        """Give everything about the game as it stands."""
        return GameState(
            turn=self.turn,
            next_agent=self.next_agent,
            hypotheses=dict(self._hypotheses),
            truth=self.puzzle.truth,
            progress=self._progress(),
            stop_reason=self.stop_reason,
            success=self.stop_reason == "solved",
        )

    def observe(self, agent: Agent) -> PuzzleView:
        """Give what an agent may see now.

        Raises:
            UsageError: there is no such agent.
        """
        if agent not in AGENTS:
            raise UsageError(f"asympuzl: there is no agent {agent!r}; the agents are {', '.join(AGENTS)}")
        said = [Heard(turn.agent, turn.turn, turn.answer.message) for turn in self._turns]
        clues, hypothesis = self.puzzle.clues(agent), self._hypotheses[agent]
        told, heard = self._told[agent], conversation(said, self.settings.history_length)
        last = next((turn for turn in reversed(self._turns) if turn.agent == agent), None)
        return PuzzleView(
            agent=agent,
            turn=self.turn,
            clues=clues,
            hypothesis=hypothesis,
            told=told,
            conversation=heard,
            system=system_prompt(agent, self.puzzle.size),
            user=user_prompt(
                clues=clues,
                hypothesis=hypothesis,
                feedback=[] if told is None else feedback_lines(told, self.settings.mode),
                conversation=heard,
                faults=[] if last is None else form_faults(last.answer),
            ),
        )

    def act(self, agent: Agent, answer: str) -> AgentTurn:
        """Let an agent answer.

        Raises:
            UsageError: the game is over, or it is the other agent's turn.
        """
        if self.done:
            raise UsageError(f"{agent} cannot act: the game ended after turn {self.turn} ({self.stop_reason}); start a new game")
        if agent != self.next_agent:
            raise UsageError(f"{agent} cannot act now: in turn {self.turn} it is for {self.next_agent} to act; see next_agent")
        made = answer_turn(self.puzzle, turn=self.turn, agent=agent, before=self._hypotheses[agent], raw=answer)
        self._turns.append(made)
        self._hypotheses[agent] = made.after
        if agent == AGENTS[-1]:
            self._told = {each: feedback(self.settings.mode, each, self._hypotheses, self.puzzle) for each in AGENTS}
        return made

    def _progress(self) -> float:
        wrong = sum(len(wrong_positions(self._hypotheses[agent], self.puzzle.truth)) for agent in AGENTS)
        return 1 - wrong / (2 * self.puzzle.size)
