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
from datetime import datetime
from typing import Any, Final, Literal, get_args

from pydantic import AliasChoices, Field, field_validator, model_validator

from games.einstein.engine import puzzle as puzzles
from games.einstein.engine.actions import Action, Answer, Ask, Move, Share, action_type, answer_reading, parse_answer, write_answer
from games.einstein.engine.table import RULES, STEP_LIMIT, RulesName, Setting, Table, expected, items_of, options, table_json
from games.einstein.prompts import HistoryEntry, Style, history_line, system_prompt, user_prompt
from games.einstein.replay import VERIFIERS, Recorder, Step, Verifier, verify
from games.settings import MOST, Settings
from schemas.common.errors import UsageError
from schemas.game import ActionEntry, End, SampleEntry, Turn, UtteranceEntry

Agent = Literal["Player1", "Player2"]
AGENTS: Final[tuple[Agent, Agent]] = get_args(Agent)

StopReason = Literal["solved", "step_limit"]

NO_VERIFIER: Final = "none"
"""How settings and conditions say that the only answer of a step was executed; null: it is not known."""


class GameSettings(Settings):
    """The switches of a game."""

    modes: puzzles.Modes = Field(
        default=("provide_seek", "provide_seek"),
        validation_alias=AliasChoices("mode", "modes"),
        description=f"Action space: {', '.join(puzzles.ACTION_MODES)}; two joined by + for a mixed pair.",
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
    player: puzzles.Player
    step: int
    """Steps made so far."""
    mode: puzzles.ActionMode
    partner_mode: puzzles.ActionMode
    num_objects: int
    items: tuple[puzzles.Item, ...]
    """What it was given or received, groundings first."""
    positions: tuple[puzzles.Bin, ...]
    reach: tuple[puzzles.Bin, ...]
    history: tuple[HistoryEntry, ...]
    """Every step so far; no player is shown the partner's thoughts."""
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

    def __init__(self, puzzle: puzzles.Puzzle, settings: GameSettings = PAPER) -> None:
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
        (puzzle,) = puzzles.generate(count=1, seed=seed, num_objects=(num_objects,))
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
        """Give everything about the game as it is now."""
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
        if agent not in AGENTS:
            raise UsageError(f"there is no agent {agent!r}; the agents are {', '.join(AGENTS)}")
        player: puzzles.Player = 0 if agent == AGENTS[0] else 1
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
            reach=puzzles.REACH[player],
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


def _answers(answer: str | Action | Sequence[str]) -> list[Answer]:
    if isinstance(answer, str):
        return [parse_answer(answer)]
    if isinstance(answer, Sequence):
        return [parse_answer(text) for text in answer]
    return [parse_answer(write_answer(answer.text))]


def end_entry(game: Game) -> End:
    """Give the last line of a game that is over."""
    correct = game.state().table.correct(game.puzzle)
    return End(
        success=game.state().success,
        score=correct / game.puzzle.num_objects,
        stop_reason=str(game.stop_reason),
        turns_taken=len(game.steps),
    )


def action_arguments(action: Action | None, written: str) -> dict[str, Any]:
    """Give an action's arguments as JSON; of an unreadable answer the text that stood in its tag."""
    if isinstance(action, Move):
        return {"block": f"block{action.block}", "from": action.source, "to": action.target}
    if isinstance(action, Ask):
        return {"block": f"block{action.block}"}
    if isinstance(action, Share):
        item = action.item
        if isinstance(item, puzzles.Grounding):
            return {"block": f"block{item.block}", "in": item.goal}
        return {"blocks": [f"block{item.first}", f"block{item.second}"], "same": item.kind}
    return {"text": written} if action is None else {}


def is_undo(step: Step) -> bool:
    """Tell whether a step moves an object back, carried out or not: out of a corner bin, or from the common bin to a start bin.

    The object must lie where the move takes it from: otherwise there is nothing that could be taken back.
    """
    action = step.answer.action
    if not isinstance(action, Move) or action.block >= len(step.before.positions) or step.before.positions[action.block] != action.source:
        return False
    if action.source in puzzles.DESTINATIONS:
        return action.target != action.source
    return action.source == puzzles.COMMON and action.target in puzzles.START_BINS


def refusal(step: Step) -> str | None:
    """Give the code under which a step was refused: its first label, ``pass``, or ``not_expected``; None if it was accepted."""
    if step.outcome.accepted:
        return None
    kind = action_type(step.answer.action)
    return next(iter((*step.labels, *step.ext_labels)), "pass" if kind == "pass" else "not_expected")


def refusal_text(code: str | None) -> str | None:
    """Give a refusal's code in words."""
    return code and code.replace("_", " ")


def turn_entry(game: Game, step: Step, texts: tuple[str, ...], *, at: datetime) -> Turn:
    """Give a finished step as a line of the log, without labels and calls; ``texts``: all answers in sampling order."""
    agent = AGENTS[step.before.player]
    outcome, choice = step.outcome, step.choice
    executed = choice.executed if choice else 0
    return Turn(
        turn=step.number + 1,
        at=at.isoformat(),
        state_before=table_json(game.puzzle, step.before),
        utterances=utterances_of(agent, step),
        oracle=None,
        oracle_followed=None,
        actions=[action_entry(agent, step, texts[executed])],
        state_after=table_json(game.puzzle, outcome.table),
        goal_reached=outcome.terminated,
        samples=SampleEntry(texts=texts, costs=choice.costs, executed=executed) if choice else None,
    )


def utterances_of(agent: str, step: Step) -> list[UtteranceEntry]:
    """The texts of a step: thoughts for their author alone, shares and asks for both players."""
    said = []
    if step.answer.reasoning is not None:
        said.append(UtteranceEntry(agent=agent, channel="private", audience=[agent], text=step.answer.reasoning))
    if isinstance(step.answer.action, Share | Ask):
        said.append(UtteranceEntry(agent=agent, channel="public", audience=AGENTS, text=step.answer.action.text))
    return said


def action_entry(agent: str, step: Step, raw: str) -> ActionEntry:
    """Give the action of a step, with the answer that was executed."""
    code = refusal(step)
    reading = answer_reading(raw) if step.choice else None  # of one reply, its recipient records how it was read
    return ActionEntry(
        agent=agent,
        read=reading and reading.read,
        used=reading and reading.used,
        verb=action_type(step.answer.action),
        arguments=action_arguments(step.answer.action, step.answer.action_text),
        raw=raw,
        accepted=step.outcome.accepted,
        error_code=code,
        error_text=refusal_text(code),
        undoes=is_undo(step),
    )
