"""The AsymPuzl environment: who answers next, what an agent may see, what its answer does.

======================= =====================================================================
agents                  ``A`` (Alice, begins) and ``B`` (Bob)
a turn                  A answers, then B, who already has A's new message
answer                  free text that ends with ``{"message": ..., "actions": [...]}``
feedback                on the previous turn, in one of six modes
end                     both working hypotheses are right at the end of a turn, or the turn limit
======================= =====================================================================

The control experiment has one agent: all clues of both sides, one attempt, no feedback, no partner.
Format description: sections 3 to 7. The texts of the prompts, in our own words, are in prompts.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from pydantic import AliasChoices, Field

from games.asympuzl.answer import DEFAULT_TOKENIZER, FAULTS, Answer, Applied, apply, parse_answer
from games.asympuzl.puzzle import AGENTS, MAX_SIZE, Agent, Entry, Puzzle, generate, other, wrong_positions
from games.players.player import texts_of
from games.settings import MOST, Settings
from schemas.common.errors import UsageError

FeedbackMode = Literal["none", "own", "own_detailed", "joint", "both", "both_detailed"]
FEEDBACK_MODES: Final[tuple[FeedbackMode, ...]] = get_args(FeedbackMode)

PAPER_NAMES: Final[Mapping[FeedbackMode, str]] = {
    "none": "No feedback",
    "own": "Own",
    "own_detailed": "Own Detailed",
    "joint": "Joint",
    "both": "Both",
    "both_detailed": "Both detailed",
}
"""Names in the heads of the paper's tables."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a mode reveals; None where it does not."""

    a_ok: bool | None = None
    b_ok: bool | None = None
    all_ok: bool | None = None
    wrong_a: tuple[int, ...] | None = None
    """Wrong positions of A, from 1."""
    wrong_b: tuple[int, ...] | None = None

    def to_json(self) -> dict[str, object]:
        """Only what is revealed."""
        facts = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in facts.items() if fact is not None}


def feedback(mode: FeedbackMode, agent: Agent, hypotheses: Mapping[Agent, Sequence[Entry]], puzzle: Puzzle) -> Feedback | None:
    """What the agent learns of the hypotheses at the end of the previous turn; None: nothing."""
    wrong = {each: wrong_positions(hypotheses[each], puzzle.truth) for each in AGENTS}
    if mode == "none":
        return None
    if mode == "joint":
        return Feedback(all_ok=not wrong["A"] and not wrong["B"])
    received = AGENTS if mode in ("both", "both_detailed") else (agent,)
    detailed = mode in ("own_detailed", "both_detailed")
    return Feedback(
        a_ok=not wrong["A"] if "A" in received else None,
        b_ok=not wrong["B"] if "B" in received else None,
        wrong_a=wrong["A"] if detailed and "A" in received else None,
        wrong_b=wrong["B"] if detailed and "B" in received else None,
    )


def feedback_lines(received: Feedback, mode: FeedbackMode) -> list[str]:
    """The feedback in words, each a line of the prompt."""
    status = {True: "solved", False: "unsolved"}
    if received.all_ok is not None:
        return [f"The puzzle is {status[received.all_ok]}."]
    parts = {"A": (received.a_ok, received.wrong_a), "B": (received.b_ok, received.wrong_b)}
    known = {name: (ok, wrong) for name, (ok, wrong) in parts.items() if ok is not None}
    if mode in ("own", "own_detailed"):
        ((ok, wrong),) = known.values()
        return [f"Your part of the puzzle is {status[ok]}.", *_wrong_line("Wrong positions", wrong)]
    sentence = ", and ".join(f"Agent {name}'s part of the puzzle is {status[ok]}" for name, (ok, _) in known.items())
    lines = [f"{sentence}."]
    for name, (_, wrong) in known.items():
        lines += _wrong_line(f"Wrong positions of Agent {name}", wrong)
    return lines


def _wrong_line(head: str, wrong: tuple[int, ...] | None) -> list[str]:
    return [f"{head}: {', '.join(map(str, wrong))}."] if wrong else []


class Heard(NamedTuple):
    """A message of the conversation as an agent is shown it."""

    agent: Agent
    """Its author."""
    turn: int
    text: str


def system_prompt(agent: Agent, size: int) -> str:
    """Role, goal, and who knows what."""
    texts, partner = texts_of(__package__), other(agent)
    knowledge = texts["knowledge"]
    slots = {"agent": agent, "partner": partner, "size": size, "own": knowledge[agent], "other": knowledge[partner]}
    return str(texts["system"].format(**slots)).strip()


def user_prompt(
    *,
    clues: Sequence[Entry],
    hypothesis: Sequence[Entry],
    feedback: Sequence[str],
    conversation: Sequence[Heard],
    faults: Sequence[str] = (),
) -> str:
    """State of the puzzle, feedback, conversation, what was wrong with the form of the agent's last answer, and how to answer."""
    sections = [
        ("Your clues", entry_lines(clues)),
        ("Your working hypothesis", entry_lines(hypothesis)),
        *([("Feedback on the previous turn", feedback)] if feedback else []),
        ("Recent conversation", [f"{heard.agent}: {heard.text}" for heard in conversation] or ["(there is no message yet)"]),
        *([("Your last answer", faults)] if faults else []),
        *_formats("pair"),
    ]
    return _written(sections)


def form_faults(answer: Answer) -> list[str]:
    """What was wrong with the form of an answer, in words: without it an agent cannot know that nothing came of it."""
    texts = texts_of(__package__)["form"]
    if not answer.parse_ok:
        return [str(texts["unread"]).strip()]
    skipped = [
        f"Action {number} was skipped: {FAULTS[request.fault]}." for number, request in enumerate(answer.requests, start=1) if request.fault
    ]
    message = [] if answer.message_ok else [str(texts["message"]).strip()]
    return [*message, *([] if answer.actions_ok else [str(texts["actions"]).strip()]), *skipped]


def _formats(game: str) -> list[tuple[str, list[str]]]:
    texts = texts_of(__package__)
    return [("Actions", [texts["action"].strip()]), ("Your answer", [texts["answer"][game].strip()])]


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """One line a position."""
    return [f"Position {place}: shape {entry.shape}, color {entry.color or 'unknown'}" for place, entry in enumerate(entries, start=1)]


def _written(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in sections)


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
    received: Feedback | None
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
        self._received: dict[Agent, Feedback | None] = dict.fromkeys(AGENTS)

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
        """Give everything about the game as it is now."""
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
            UsageError: no such agent exists.
        """
        if agent not in AGENTS:
            raise UsageError(f"asympuzl: there is no agent {agent!r}; the agents are {', '.join(AGENTS)}")
        spoken = [Heard(turn.agent, turn.turn, turn.answer.message) for turn in self._turns]
        clues, hypothesis = self.puzzle.clues(agent), self._hypotheses[agent]
        received, heard = self._received[agent], conversation(spoken, self.settings.history_length)
        last = next((turn for turn in reversed(self._turns) if turn.agent == agent), None)
        return PuzzleView(
            agent=agent,
            turn=self.turn,
            clues=clues,
            hypothesis=hypothesis,
            received=received,
            conversation=heard,
            system=system_prompt(agent, self.puzzle.size),
            user=user_prompt(
                clues=clues,
                hypothesis=hypothesis,
                feedback=[] if received is None else feedback_lines(received, self.settings.mode),
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
            self._received = {each: feedback(self.settings.mode, each, self._hypotheses, self.puzzle) for each in AGENTS}
        return made

    def _progress(self) -> float:
        wrong = sum(len(wrong_positions(self._hypotheses[agent], self.puzzle.truth)) for agent in AGENTS)
        return 1 - wrong / (2 * self.puzzle.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloObservation:
    """All that the one agent sees."""

    clues_a: tuple[Entry, ...]
    clues_b: tuple[Entry, ...]
    system: str
    user: str
    """The two messages for a language model."""


def observe(puzzle: Puzzle) -> SoloObservation:
    """Give what the one agent may see, as its system and user prompt, too."""
    texts = texts_of(__package__)
    knowledge = texts["knowledge"]
    sections = [
        ("First clues", entry_lines(puzzle.clues_a)),
        ("Second clues", entry_lines(puzzle.clues_b)),
        ("Your working hypothesis", entry_lines(puzzle.clues_a)),
        *_formats("solo"),
    ]
    system = str(texts["solo"].format(size=puzzle.size, first=knowledge["A"], second=knowledge["B"])).strip()
    return SoloObservation(clues_a=puzzle.clues_a, clues_b=puzzle.clues_b, system=system, user=_written(sections))


def attempt(puzzle: Puzzle, answer: str) -> AgentTurn:
    """What the one answer does to the clues of A; it succeeds if ``ok_after``. Its message is ignored."""
    return answer_turn(puzzle, turn=1, agent="A", before=puzzle.clues_a, raw=answer)


def solver(seen: SoloObservation) -> str:
    """A script that puts both sides together."""
    pairs = {entry.shape: entry for entry in seen.clues_b}
    actions = [{"replace": place, "by": pairs[entry.shape]._asdict()} for place, entry in enumerate(seen.clues_a, start=1)]
    return json.dumps({"message": "", "actions": actions})
