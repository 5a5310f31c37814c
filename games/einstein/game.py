"""The Einstein environment: who acts next, what a player may see, what its answer does.

======================= =====================================================================
agents                  ``Player1`` (bottom side, begins) and ``Player2`` (top side)
a step                  one answer of one player, whatever it contains; strict alternation
answer                  ``actions``: optional ``<THINK>``, then ``<ACTION>``; several with a verifier
end                     all objects in their goal bins, or the step limit
======================= =====================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from games.einstein.engine.actions import Action, Answer, parse_answer, write_answer
from games.einstein.engine.bins import REACH, Bin, Player
from games.einstein.engine.generator import generate
from games.einstein.engine.items import Item
from games.einstein.engine.modes import ActionMode, Modes
from games.einstein.engine.options import expected, options
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.rules import RULES, STEP_LIMIT, RulesName
from games.einstein.engine.step import Setting
from games.einstein.engine.table import Table, items_of
from games.einstein.replay import Recorder, Step
from games.einstein.text.prompts import HistoryEntry, Style, history_line, system_prompt, user_prompt
from games.einstein.text.verifiers import Verifier, verify
from schemas.errors import UsageError

__all__ = ["AGENTS", "Agent", "Game", "GameSettings", "GameState", "PlayerView", "StopReason", "stop_reason"]

Agent = Literal["Player1", "Player2"]
AGENTS: Final[tuple[Agent, Agent]] = get_args(Agent)

StopReason = Literal["solved", "step_limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSettings:
    """Conditions of a game."""

    modes: Modes = ("provide_seek", "provide_seek")
    """The action space of each player."""

    reasoning: bool = True
    """Whether players are asked for their thoughts before the action."""

    guidance: bool = False
    """Players are told besides what the published prompt tells GPT-4o."""

    verifier: Verifier | None = None
    """Filter over several answers a step; None: the first answer is executed."""

    samples: int = 4
    """Answers that a player is asked for per step where there is a verifier (the paper's number)."""

    rules: RulesName = "sane"
    step_limit: int = STEP_LIMIT

    @property
    def style(self) -> Style:
        """How players are asked."""
        if not self.reasoning:
            return "bare"
        return "guidance" if self.guidance else "reasoning"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerView:
    """All that a player may see."""

    agent: Agent
    player: Player
    step: int
    """Steps made so far."""

    mode: ActionMode
    partner_mode: ActionMode
    num_objects: int
    items: tuple[Item, ...]
    """What it was given or told, groundings first."""

    positions: tuple[Bin, ...]
    reach: tuple[Bin, ...]
    history: tuple[HistoryEntry, ...]
    """Every step so far; nobody is shown the partner's thoughts."""

    system: str
    user: str
    """The two messages for a language model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameState:
    """Everything about a running game, goals included: for logs and tests, not for players."""

    table: Table
    expected: tuple[Action, ...]
    """What the player to move may sensibly do; empty after the end."""

    next_agent: Agent | None
    """Who acts next; None after the end."""

    stop_reason: StopReason | None
    success: bool


def stop_reason(last: Step) -> StopReason | None:
    """Give why a game is over after its last step; None if it is not."""
    return "solved" if last.outcome.terminated else "step_limit" if last.outcome.truncated else None


class Game:
    """One game of Einstein Puzzles."""

    agents: Final = AGENTS

    def __init__(self, puzzle: Puzzle, settings: GameSettings = GameSettings()) -> None:
        """Lay the table.

        Raises:
            UsageError: step limit or samples are below 1, or the published communication verifier is wanted in mode none.
        """
        if min(settings.step_limit, settings.samples) < 1:
            raise UsageError(f"a game needs step_limit and samples of at least 1, got {settings.step_limit} and {settings.samples}")
        if settings.rules == "published" and settings.verifier == "communication" and "none" in settings.modes:
            raise UsageError("the published communication verifier stops in mode none; use the sane rules or another verifier")
        self.puzzle = puzzle
        self.settings = settings
        self._recorder = Recorder(Setting(puzzle, settings.modes, RULES[settings.rules], settings.step_limit))

    @classmethod
    def drawn(cls, *, seed: int, num_objects: int, settings: GameSettings = GameSettings()) -> "Game":
        """Set up a generated game: the same arguments, the same game.

        Raises:
            UsageError: as the constructor, or there are no puzzles of that size.
        """
        (puzzle,) = generate(count=1, seed=seed, num_objects=(num_objects,))
        return cls(puzzle, settings)

    @property
    def steps(self) -> Sequence[Step]:
        """Finished steps."""
        return self._recorder.steps

    @property
    def setting(self) -> Setting:
        """What the engine plays by."""
        return self._recorder.setting

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self._recorder.ended

    @property
    def next_agent(self) -> Agent | None:
        """Who acts next; None after the end."""
        return None if self.done else AGENTS[self._recorder.table.player]

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the game is over; None while it runs."""
        return stop_reason(self.steps[-1]) if self.steps else None

    def state(self) -> GameState:
        """Give everything about the game as it stands."""
        table, setting = self._recorder.table, self.setting
        sensible = () if self.done else expected(options(self.puzzle, table), table, setting.modes, setting.rules)
        return GameState(
            table=table,
            expected=sensible,
            next_agent=self.next_agent,
            stop_reason=self.stop_reason,
            success=bool(self.steps) and self.steps[-1].outcome.success,
        )

    def observe(self, agent: Agent) -> PlayerView:
        """Give what a player may see now."""
        player = _player(agent)
        table, settings = self._recorder.table, self.settings
        items = tuple(items_of(self.puzzle, table, player))
        history = tuple(HistoryEntry(step.before.player, step.answer.action, step.outcome.history_ok) for step in self.steps)
        lines = [history_line(entry, player, clear=self.setting.rules.history_is_clear) for entry in history]
        return PlayerView(
            agent=agent,
            player=player,
            step=table.step,
            mode=settings.modes[player],
            partner_mode=settings.modes[1 - player],
            num_objects=self.puzzle.num_objects,
            items=items,
            positions=table.positions,
            reach=REACH[player],
            history=history,
            system=system_prompt(settings.modes[player], reasoning=settings.reasoning, guidance=settings.guidance),
            user=user_prompt(player, items, table, lines, style=settings.style),
        )

    def act(self, agent: Agent, answer: str | Action | Sequence[str]) -> Step:
        """Let a player answer: with a text, with an action, or, for a verifier to choose from, with several texts.

        Raises:
            UsageError: the game is over, it is the other player's turn, or several texts came without a verifier.
        """
        if self.done:
            raise UsageError(f"{agent} cannot act: the game ended after step {len(self.steps)} ({self.stop_reason}); start a new game")
        if agent != self.next_agent:
            raise UsageError(f"{agent} cannot act in step {len(self.steps) + 1}: it is for {self.next_agent} to act; see next_agent")
        answers = _answers(answer)
        if self.settings.verifier is None:
            if len(answers) != 1:
                raise UsageError(f"{agent} gave {len(answers)} answers, but the game has no verifier to choose one; give one answer")
            return self._recorder.add(answers[0])
        choice = verify(self.settings.verifier, self.setting, self._recorder.table, [found.action for found in answers])
        return self._recorder.add(answers[choice.executed], choice)


def _player(agent: Agent) -> Player:
    if agent not in AGENTS:
        raise UsageError(f"there is no agent {agent!r}; the agents are {', '.join(AGENTS)}")
    return 0 if agent == AGENTS[0] else 1


def _answers(answer: str | Action | Sequence[str]) -> list[Answer]:
    if isinstance(answer, str):
        return [parse_answer(answer)]
    if isinstance(answer, Sequence):
        return [parse_answer(text) for text in answer]
    return [parse_answer(write_answer(answer.text))]
