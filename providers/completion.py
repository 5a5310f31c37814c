"""What a model's reply holds, whichever provider sent it."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple

from providers.messages import Message, ToolCall

__all__ = ["NO_TOKENS", "Completion", "Ending", "ErrorCameError", "Tokens", "UnreadableError", "counted", "told"]

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
"""Words of providers and gateways for the three."""
_IS_DECLINED: Final = re.compile(r"safety|filter|block|prohibit|recitation|guardrail|moderat|refus|polic")
_IS_CUT: Final = re.compile(r"length|max_|_limit|truncat|context_window")
_IS_INTERRUPTED: Final = re.compile(r"abort|cancel|error|fail|incomplete|interrupt|invalid|malformed|missing|time_?out|too_many|unexpected")
"""What newer words for them hold; any other word, and none, is taken for the reply's own end."""

_MOST_TOKENS: Final = 10**9
"""No call takes more; what a server says beyond it is no count."""


class UnreadableError(Exception):
    """What the server sent is no completion of its protocol."""


class ErrorCameError(UnreadableError):
    """An error came where a completion should be, with HTTP's status of success."""

    def __init__(self, error: Any) -> None:
        super().__init__(f"an error came in place of a reply: {error}")
        self.error = error
        """As the protocol has it."""


class Tokens(NamedTuple):
    """Tokens as billed; 0 where the server does not say."""

    input: int = 0
    """Of the prompt, those out of a cache included."""
    output: int = 0
    """Of the reply, reasoning included."""
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
    """Why it stopped: stop, length, tool_calls, content_filter, or another word of the provider's; None if it does not say."""
    tokens: Tokens
    reasoning: str = ""
    """What it thought, as far as the provider shows it."""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    """Why it declines, where the provider tells that apart from text."""
    probabilities: tuple[tuple[str, float], ...] = ()
    """Tokens of the text with their log probabilities; empty unless they were asked for and came."""
    echo: Any = None
    """The provider's own form of the reply, where it wants that back in the next request; None where text and calls say it all."""
    served_model: str | None = None
    """Which model the server says it was; None if it does not say."""
    cost: float | None = None
    """What the server says the reply costs, in USD; None if it does not say."""
    unlisted: int = 0
    """By how much the server's own total of tokens differs from the prompt and the reply that it lists; 0 where it states none."""

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
        """All that the model wrote beside its reasoning: the text, then the arguments of each tool call, a line each."""
        return "\n".join(filter(None, [self.text, *(call.arguments for call in self.tool_calls)]))

    @property
    def is_counted(self) -> bool:
        """Whether the server has said how many tokens it took: no prompt has none, and no words."""
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


def told(value: object) -> str | None:
    """A text that a server tells; None where it tells none."""
    return value if isinstance(value, str) and value else None


def counted(value: object) -> int:
    """The number of tokens that a server says; 0 where it says none, or one that cannot be."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0
