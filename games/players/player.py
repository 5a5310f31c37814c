"""One kind of player: it gets an observation and gives a reply as text; the game reads the text by its grammar.

A game reads text alone. A tool call of a model is written as a line of the game's grammar, and what a person fills into a form is text of
that grammar too, so that scripts, people, models and logs have the same game.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple, Protocol

from providers.asker import Asker, Request, now
from schemas.chat.messages import Completion, Message, Tool, ToolCall
from schemas.common.errors import CotraceError
from schemas.common.packages import packaged_yaml
from schemas.game import CallEntry
from schemas.records import Call
from schemas.replies import Read, Reading, ReadReply, read_of_rule


class Slot(NamedTuple):
    """A place in a form that is filled in."""

    name: str
    label: str
    choices: Sequence[str] = ()
    """One of these; empty: free text."""
    pieces: Sequence[Form] = ()
    """Any number of texts, each by one of these forms; empty: a single value."""
    joined: str = ""
    """Between two pieces."""
    is_json: bool = False
    """Free text, written as a JSON string."""
    default: str = ""
    """The text if nothing is filled in."""


class Form(NamedTuple):
    """A kind of answer."""

    title: str
    text: str
    """`$name` is replaced by what is filled in at the slot of that name."""
    slots: Sequence[Slot] = ()


@cache
def texts_of(package: str) -> dict[str, Any]:
    """Give the texts that lie in a package, in `prompts.yaml`; `{name}` in them is replaced by what a game fills in."""
    texts: dict[str, Any] = packaged_yaml(package, "prompts.yaml")
    return texts


class Round(NamedTuple):
    """An answer with calls, and what came back."""

    reply: str
    """In the game's grammar."""
    results: Sequence[str]
    """Of each call; empty if none was carried out, then the answer is forgotten."""
    note: str
    """What is added."""


class ToolUse(NamedTuple):
    """What a model that can call tools is given in place of `Observation.messages`."""

    messages: Sequence[Message]
    """The situation, without a word on how calls are written as text."""
    tools: Sequence[Tool]
    """Those that may be called now."""
    written: Callable[[ToolCall], str]
    """A call in the game's grammar."""
    rounds: Sequence[Round] = ()

    def chat(self, called: Mapping[str, Completion]) -> list[Message]:
        """The messages with the rounds so far; `called`: the text in the game's grammar -> the reply with its calls, others are texts."""
        return [*self.messages, *(message for one in self.rounds for message in _round(one, called.get(one.reply)))]


def written_out(completion: Completion, use: ToolUse) -> str:
    """A reply in the game's grammar: its calls if it has any, else its text."""
    return "\n".join(map(use.written, completion.tool_calls)) if completion.tool_calls else completion.text


def _round(one: Round, reply: Completion | None) -> Iterator[Message]:
    if reply is None or not one.results:
        if one.results:
            yield {"role": "assistant", "content": one.reply}
        yield {"role": "user", "content": "\n".join([*one.results, one.note])}
        return
    yield reply.message()
    last = len(one.results) - 1
    for place, (call, result) in enumerate(zip(reply.tool_calls, one.results, strict=False)):
        yield {"role": "tool", "content": f"{result}\n{one.note}" if place == last else result, "tool_call_id": call.id}


_TERMINAL = threading.Lock()
"""There is one: several people who are asked at the same time take their turns at it."""


class OutOfBudgetError(CotraceError):
    """The budget allows no further request: the game stops where it is, and is played on when there is money again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that an agent may know when it is its turn, in two forms that say the same; nothing else reaches a player."""

    agent: str
    role: str
    turn: int
    """From 1."""
    place: int = 0
    """Which of the agent's calls in the game this is, from 1; a course leaves it to whoever plays it."""
    purpose: str = "act"
    """What is wanted, where a game asks an agent for several things."""
    sample: int = 1
    """Which of several answers to the same situation is meant, from 1."""
    messages: Sequence[Message]
    """For a model or a person: system text and the situation in words."""
    data: Any
    """For a script: the family's own observation."""
    wants_thoughts: bool = False
    """Whether the messages ask for thoughts in tags, which the game then reads itself."""
    tool: ToolUse | None = None
    """For a model that can call tools: what it is given in place of `messages`."""
    options: Sequence[str] = ()
    """The actions that the messages list, where they list them."""
    scene: Callable[[], Any] | None = None
    """What can be drawn for a person, where `data` is text alone: the state as logs write it, cut to what the messages say."""
    reads: ReadReply | None = None
    """How the game reads a reply to this; None: it takes any text."""


class PlayerReply(NamedTuple):
    """A player's reply."""

    text: str
    """Empty if nothing came."""
    reasoning: str = ""
    """What a model thought apart from its text, as far as the provider shows it."""
    call: Call | None = None
    """What the request took; None of scripts and people."""

    @property
    def error(self) -> str | None:
        """Why nothing usable came; None if something did."""
        return None if self.call is None else self.call.error


def reading_of(seen: Observation, reply: PlayerReply) -> Reading | None:
    """How the game reads a reply: cut, empty, or as the observation's reader finds; None where nothing came, or nothing reads it."""
    of_call = read_of_rule(reply.call.read_as) if reply.call is not None else None
    if of_call == "cut" or not reply.text.strip():
        return None if of_call is None else Reading("cut" if of_call == "cut" else "unreadable")
    return None if seen.reads is None else seen.reads(reply.text)


def call_entry(call: Call, agent: str, read: Read | None = None) -> CallEntry:
    """Give a call as a game's log holds it; ``read``: how the game read its reply."""
    names = {field.name for field in fields(CallEntry)} - {"agent", "asked_at", "read"}
    facts: dict[str, Any] = {name: value for name, value in call._asdict().items() if name in names}
    return CallEntry(**facts, agent=agent, asked_at=(call.asked_at or now()).isoformat(), read=read)


class Player(Protocol):
    """Whoever plays an agent."""

    name: str
    """As in the column `agents.model`."""

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Answer an observation.

        Raises:
            HopelessError: no request to this model can succeed.
            OutOfBudgetError: the budget allows no further one.
        """
        ...


async def all_replies(asked: Iterable[Awaitable[PlayerReply]]) -> list[PlayerReply]:
    """Wait for several replies at once; for all of them even where one cannot be had, since the others are paid for.

    Raises:
        HopelessError: no request to this model can succeed.
        OutOfBudgetError: the budget allows no further one.
    """
    came = await asyncio.gather(*asked, return_exceptions=True)
    for reply in came:
        if isinstance(reply, BaseException):
            raise reply
    return [reply for reply in came if not isinstance(reply, BaseException)]


class ScriptPlayer:
    """A policy: the observation's data in, text out."""

    def __init__(self, name: str, policy: Callable[[Any], str]) -> None:
        self.name = f"script:{name}"
        self._policy = policy

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:  # noqa: ARG002 - the same face for all
        """Let the policy answer; other games go on meanwhile."""
        return PlayerReply(self._policy(seen.data))


class ModelPlayer:
    """A language model behind an asker that many players may share; `game` tells the game apart from all others in the asker's journal."""

    def __init__(self, name: str, asker: Asker, *, run: str, game: str) -> None:
        self.name = name
        self._asker = asker
        self._run = run
        self._game = game
        self._called: dict[str, Completion] = {}

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Ask the model; a reply that the journal has is not paid again."""
        request = Request(
            messages=seen.messages if seen.tool is None else seen.tool.chat(self._called),
            asks_for_thoughts=seen.wants_thoughts,
            tools=() if seen.tool is None else seen.tool.tools,
            key=f"{self._game}/{seen.agent}/{seen.place}/{seen.sample}",
            sample=seen.sample,
            purpose="player",
            step=seen.purpose,
            run=self._run,
            episode_id=episode,
            turn=seen.turn,
            agent=seen.agent,
        )
        reply = await self._asker.ask(request)
        if reply.call.status == "unasked":
            raise OutOfBudgetError(f"{self.name}: {reply.call.error}")
        completion = reply.completion
        if seen.tool is not None and reply.answered and completion is not None and completion.tool_calls:
            text = written_out(completion, seen.tool)
            self._called[text] = completion
            return PlayerReply(text, reply.thoughts, reply.call)
        return PlayerReply(reply.text, reply.thoughts, reply.call)


class PersonPlayer:
    """A person at the terminal: sees the situation in words, writes one answer, ended by an empty line."""

    name = "human"

    def __init__(self, show: Callable[[str], None], read_line: Callable[[], str]) -> None:
        self._show = show
        self._read_line = read_line

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:  # noqa: ARG002 - the same face for all
        """Show what the role may see and wait for the answer; other games go on meanwhile."""
        return PlayerReply(await asyncio.to_thread(self._ask, seen))

    def _ask(self, seen: Observation) -> str:
        with _TERMINAL:
            self._show(f"\n--- turn {seen.turn}: you are {seen.agent} ({seen.role})\n")
            for message in seen.messages:
                self._show(message["content"])
            self._show("\nYour answer, then an empty line:")
            lines: list[str] = []
            while line := self._read_line().rstrip("\n"):
                lines.append(line)
            return "\n".join(lines)
