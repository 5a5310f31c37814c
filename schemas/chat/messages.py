"""What is sent to a model and what comes back, in one form for all providers: messages, tools, forms, completions, probabilities."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Required, TypedDict


class ToolCall(NamedTuple):
    """A tool that the model wants to use."""

    id: str
    """The provider's; the tool's result names it."""
    name: str
    arguments: str
    """As the model wrote them; meant to be a JSON object."""


class Tool(NamedTuple):
    """A function that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""


class Message(TypedDict, total=False):
    """A chat message."""

    role: Required[str]
    """system, user, assistant, or tool: the result of a tool call."""
    content: Required[str]
    tool_calls: Sequence[ToolCall]
    """Of an assistant's message."""
    tool_call_id: str
    """Of a tool's message: the call that it answers."""
    echo: Any
    """Of an assistant's message: `Completion.echo`, which some providers want back word for word (signed reasoning)."""


# -- completions ------------------------------------------------------------------------------------------

Ending = Literal["finished", "cut", "interrupted", "declined"]
"""How a reply ended: by the model's own choice, at its longest length, for another reason before its end, or by a refusal."""

_CUT: Final = frozenset(
    {
        *("length", "max_length", "model_length", "context_length", "token_limit"),
        *("max_tokens", "max_new_tokens", "max_output_tokens", "max_completion_tokens", "max_tokens_reached"),
        *("model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded"),
    }
)
_INTERRUPTED: Final = frozenset(
    {
        *("abort", "aborted", "cancelled", "canceled", "error", "incomplete", "insufficient_system_resource", "network_error", "other"),
        *("malformed_function_call", "malformed_model_output", "malformed_tool_use", "pause_turn", "time_limit", "timeout"),
        *("too_many_tool_calls", "unexpected_tool_call"),
    }
)
_DECLINED: Final = frozenset(
    {
        *("blocklist", "content_filter", "content_filtered", "guardrail_intervened", "prohibited_content", "recitation", "refusal"),
        *("safety", "sensitive", "spii"),
    }
)
"""Words of providers and gateways for the three kinds."""
_IS_DECLINED: Final = re.compile(r"safety|filter|block|prohibit|recitation|guardrail|moderat|refus|polic")
_IS_CUT: Final = re.compile(r"length|max_|_limit|truncat|context_window")
_IS_INTERRUPTED: Final = re.compile(r"abort|cancel|error|fail|incomplete|interrupt|invalid|malformed|missing|time_?out|too_many|unexpected")
"""What newer words for them hold; any other word, and none, is taken for the reply's own end."""

_MOST_TOKENS: Final = 10**9
"""No call takes more; a larger number is not a count."""


class UnreadableError(Exception):
    """What the server sent is not a completion of its protocol."""


class ErrorCameError(UnreadableError):
    """An error came where a completion should be, with HTTP's status of success."""

    def __init__(self, error: Any) -> None:
        super().__init__(f"an error came in place of a reply: {error}")
        self.error = error
        """As the protocol has it."""


class Tokens(NamedTuple):
    """Tokens as billed; 0 where the server does not count them."""

    input: int = 0
    """Of the prompt, with those out of a cache."""
    output: int = 0
    """Of the reply, with reasoning."""
    cached: int = 0
    """Those of the prompt that came out of the provider's cache."""
    written: int = 0
    """Those of the prompt that were put into the provider's cache at a price of their own."""
    reasoning: int = 0
    """Those of the reply that were spent on reasoning, where the provider counts them."""

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(*(mine + its for mine, its in zip(self, other, strict=True)))


NO_TOKENS: Final = Tokens()


class Completion(NamedTuple):
    """A reply that came."""

    text: str
    """What the model wrote as text, verbatim, without reasoning and tool calls; empty if it wrote nothing."""
    finish_reason: str | None
    """Why it stopped: stop, length, tool_calls, content_filter, or another word of the provider's; None if not known."""
    tokens: Tokens
    reasoning: str = ""
    """What it thought, as far as the provider shows it."""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    """Why it declines, where the provider separates that from text."""
    probabilities: tuple[tuple[str, float], ...] = ()
    """Tokens of the text with their log probabilities; empty unless they were asked for and came."""
    echo: Any = None
    """The provider's own form of the reply, where it wants that back in the next request; else None."""
    served_model: str | None = None
    """Which model it was, by the server; None if not known."""
    cost: float | None = None
    """What the server has billed, in USD; None if not known."""
    unlisted: int = 0
    """By how much the server's own total of tokens differs from the prompt and the reply that it lists; 0 where it has no total."""

    @property
    def ending(self) -> Ending:
        """How it ended."""
        word = (self.finish_reason or "").lower()
        if self.refusal is not None or word in _DECLINED:
            return "declined"
        if word in _CUT or word in _INTERRUPTED:
            return "cut" if word in _CUT else "interrupted"
        if _IS_DECLINED.search(word):
            return "declined"
        return "interrupted" if _IS_INTERRUPTED.search(word) else "cut" if _IS_CUT.search(word) else "finished"

    @property
    def written(self) -> str:
        """All that the model wrote except its reasoning: the text, then the arguments of each tool call, a line each."""
        return "\n".join(filter(None, [self.text, *(call.arguments for call in self.tool_calls)]))

    @property
    def is_counted(self) -> bool:
        """Whether the server has counted its tokens: a prompt has some, and so have words."""
        wrote = bool(self.text or self.reasoning or self.tool_calls)
        return self.tokens.input > 0 and (self.tokens.output > 0 or not wrote)

    def message(self) -> Message:
        """The reply as the next message of the chat."""
        message = Message(role="assistant", content=self.text)
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        if self.echo is not None:
            message["echo"] = self.echo
        return message


def text_or_none(value: object) -> str | None:
    """A value of a server's reply if it is a text and not empty."""
    return value if isinstance(value, str) and value else None


def counted(found: Any, *path: str) -> int:
    """The number of tokens at that path in what a server sent; 0 where there is none, or no number."""
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS else 0


# -- probabilities ----------------------------------------------------------------------------------------

_KEY: Final = re.compile(r'[\s,]*"([^"\\]*)"\s*:\s*')
_JSON: Final = json.JSONDecoder(strict=False)


def probabilities_in(found: Any, tokens: str, logprob: str) -> tuple[tuple[str, float], ...]:
    """Tokens with their log probabilities in what a server sent, under the server's names; those that are malformed are left out."""
    listed = found.get(tokens) if isinstance(found, dict) else None
    each = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return tuple(
        (one["token"], one[logprob]) for one in each if isinstance(one.get("token"), str) and isinstance(one.get(logprob), int | float)
    )


def why_no_probabilities(completion: Completion) -> str | None:
    """Why no probability of a value in this reply can be known; None if it can."""
    if not completion.probabilities:
        return "the server sent none"
    if not completion.text and completion.tool_calls:
        return "the form came as a call of a tool, and servers send probabilities of text only"
    if completion.text not in "".join(token for token, _ in completion.probabilities):
        return "the tokens with probabilities are not those of the text"
    return None


def probability_of(completion: Completion, name: str, key: str) -> float | None:
    """The probability, 0..1, that the model gave to the value of `key` in the object `name` of its reply, given all it had written before.

    None where no probabilities came, where their tokens do not hold the text, or where the value is missing. Some servers leave a fence
    around the text out of it and not out of the tokens. A token that reaches beyond the value counts whole.
    """
    tokens = completion.probabilities
    span = _span(completion.text, name, key)
    begins = "".join(token for token, _ in tokens).find(completion.text)
    if not tokens or span is None or begins < 0:
        return None
    total, at = 0.0, -begins
    for token, logprob in tokens:
        if at < span[1] and at + len(token) > span[0]:
            total += logprob
        at += len(token)
    return min(1.0, math.exp(total))


def _span(text: str, name: str, key: str) -> tuple[int, int] | None:
    """Where the value begins and ends, without the quotes of a text."""
    opened = re.search(rf'"{re.escape(name)}"\s*:\s*\{{', text)
    at = opened.end() if opened else len(text)
    while found := _KEY.match(text, at):
        try:
            value, at = _JSON.raw_decode(text, found.end())
        except ValueError:
            return None
        if found[1] == key:
            quotes = int(isinstance(value, str))
            return found.end() + quotes, at - quotes
    return None
