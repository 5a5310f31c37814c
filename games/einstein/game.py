"""The Einstein environment: who acts next, what a player may see, what its answer does.

======================= =====================================================================
agents                  ``Player1`` (bottom side, begins) and ``Player2`` (top side)
a step                  one answer of one player, whatever it contains; strict alternation
answer                  ``actions``: optional ``<THINK>``, then ``<ACTION>``; several with a verifier
end                     all objects in their goal bins, or the step limit
======================= =====================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pydantic import AliasChoices, Field, field_validator, model_validator

from games.einstein.engine.actions import Action, Answer, parse_answer, write_answer
from games.einstein.engine.bins import REACH, Bin, Player
from games.einstein.engine.generator import generate
from games.einstein.engine.items import Item
from games.einstein.engine.modes import ACTION_MODES, ActionMode, Modes
from games.einstein.engine.options import expected, options
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.rules import RULES, STEP_LIMIT, RulesName
from games.einstein.engine.step import Setting
from games.einstein.engine.table import Table, items_of
from games.einstein.replay import Recorder, Step
from games.einstein.text.prompts import HistoryEntry, Style, history_line, system_prompt, user_prompt
from games.einstein.text.verifiers import VERIFIERS, Verifier, verify
from games.settings import MOST, Settings
from schemas.errors import UsageError

Agent = Literal["Player1", "Player2"]
AGENTS: Final[tuple[Agent, Agent]] = get_args(Agent)

StopReason = Literal["solved", "step_limit"]

NO_VERIFIER: Final = "none"
"""How settings and conditions say that the only answer of a step was executed; null: it is not known."""


class GameSettings(Settings):
    """The switches of a game."""

    modes: Modes = Field(
        default=("provide_seek", "provide_seek"),
        validation_alias=AliasChoices("mode", "modes"),
        description=f"Action space: {', '.join(ACTION_MODES)}; two joined by + for a mixed pair.",
    )
    reasoning: bool = Field(default=True, description="Players write their thoughts before the action.")
    guidance: bool = Field(default=False, description="Prompts also say what the published prompt tells GPT-4o.")
    verifier: Verifier | None = Field(
        default=None,
        description=f"Filter over several answers a step: {', '.join((NO_VERIFIER, *VERIFIERS))}.",
    )
    samples: int = Field(
        default=4, ge=1, serialization_alias="samples_per_step", description="Answers a step that a verifier chooses from (paper: 4)."
    )
    rules: RulesName = Field(default="sane", description="published: with the defects of the released code.")
    step_limit: int = Field(
        default=STEP_LIMIT,
        ge=1,
        le=MOST,
        validation_alias=AliasChoices("turns", "step_limit"),
        description="Steps of both players together.",
        json_schema_extra={"folder": "step_limit"},
    )

    @field_validator("modes", mode="before")
    @classmethod
    def _pair(cls, given: Any) -> Any:
        if isinstance(given, list):
            return tuple(given)
        return (tuple(given.split("+")) if "+" in given else (given, given)) if isinstance(given, str) else given

    @field_validator("verifier", mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        return None if given == NO_VERIFIER else given

    @model_validator(mode="after")
    def _possible(self) -> GameSettings:
        if self.rules == "published" and self.verifier == "communication" and "none" in self.modes:
            raise ValueError("the published communication verifier stops in mode none; use the sane rules or another verifier")
        return self

    def logged(self) -> dict[str, Any]:
        """The settings as `runs.condition` holds them."""
        facts = self.model_dump(mode="json")
        modes, samples = facts.pop("modes"), facts.pop("samples")
        return {
            "action_mode": modes[0] if modes[0] == modes[1] else None,
            "modes": modes,
            **facts,
            "verifier": self.verifier or NO_VERIFIER,
            "samples_per_step": samples if self.verifier else 1,
        }

    @property
    def style(self) -> Style:
        """How players are asked."""
        if not self.reasoning:
            return "bare"
        return "guidance" if self.guidance else "reasoning"


PAPER: Final = GameSettings()


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

    def __init__(self, puzzle: Puzzle, settings: GameSettings = PAPER) -> None:
        """Lay the table."""
        self.puzzle = puzzle
        self.settings = settings
        self._recorder = Recorder(Setting(puzzle, settings.modes, RULES[settings.rules], settings.step_limit))

    @classmethod
    def drawn(cls, *, seed: int, num_objects: int, settings: GameSettings = PAPER) -> Game:
        """Set up a generated game: the same arguments, the same game.

        Raises:
            UsageError: there are no puzzles of that size.
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
