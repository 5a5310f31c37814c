"""Tools of a game in the protocols of providers: what a model is offered, and what was answered to its calls.

A game reads text alone: a call is written as a line of its grammar, so that scripts, people and logs have the same game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from providers.messages import Completion, Message, Tool, ToolCall


class Round(NamedTuple):
    """An answer with calls, and what came back."""

    said: str
    """In the game's grammar."""
    results: Sequence[str]
    """Of each call; empty if none was carried out, then the answer is forgotten."""
    note: str
    """What is told besides."""


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
        """The messages with the rounds so far.

        Args:
            called: what was said in the game's grammar -> the reply with its calls; other answers stand there as text.
        """
        return [*self.messages, *(message for one in self.rounds for message in _round(one, called.get(one.said)))]


def written_out(completion: Completion, use: ToolUse) -> str:
    """What a reply says in the game's grammar: its calls if it has any, else its text."""
    return "\n".join(map(use.written, completion.tool_calls)) if completion.tool_calls else completion.text


def _round(one: Round, reply: Completion | None) -> Iterator[Message]:
    if reply is None or not one.results:
        if one.results:
            yield {"role": "assistant", "content": one.said}
        yield {"role": "user", "content": "\n".join([*one.results, one.note])}
        return
    yield reply.message()
    last = len(one.results) - 1
    for place, (call, result) in enumerate(zip(reply.tool_calls, one.results, strict=False)):
        yield {"role": "tool", "content": f"{result}\n{one.note}" if place == last else result, "tool_call_id": call.id}
