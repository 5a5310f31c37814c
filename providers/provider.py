"""The providers of models: a client for each, and where each puts text and token counts in its replies."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from schemas.errors import UsageError

if TYPE_CHECKING:
    import openai
    from instructor import AsyncInstructor

__all__ = [
    "ModelSettings",
    "batch_client",
    "call_arguments",
    "connect",
    "counted",
    "is_filtered",
    "is_hollow",
    "key_of",
    "text_of",
    "tokens_in_and_out",
    "usage_of",
]


_MOST_TOKENS: Final = 10**9
"""No call takes more; what a server says beyond it is no count."""
_MOST_BYTES_A_TOKEN: Final = 64
_MOST_BYTES_BESIDES: Final = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSettings:
    """Which model, and how it is asked."""

    model: str
    """provider/model, such as openai/gpt-4o-mini."""
    base_url: str | None = None
    """An OpenAI-compatible server; None: the provider's own."""
    key_variable: str | None = None
    """Environment variable with the key, for OpenAI and OpenAI-compatible servers; None: OPENAI_API_KEY."""
    temperature: float | None = 0.0
    """None: the provider's default (some models refuse any other)."""
    max_tokens: int = 1500
    """Longest reply, in tokens."""
    timeout_s: float = 120.0
    """For one request, from sending to the last byte."""
    tries: int = 6
    """Requests for one question sheet when the server fails; 429 does not count."""
    reasks: int = 2
    """How often a model is shown what was wrong with its reply and asked again."""
    patience_s: float = 120.0
    """How long a call goes on trying while all the server says, to any call, is 429."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    @property
    def most_bytes(self) -> int:
        """The largest body that a reply can have: a token may take dozens of bytes as escaped JSON, and servers add facts of their own."""
        return _MOST_BYTES_BESIDES + _MOST_BYTES_A_TOKEN * self.max_tokens

    @property
    def provider(self) -> str:
        """The part before the first slash."""
        return self.model.partition("/")[0]

    @property
    def model_name(self) -> str:
        """The part after the first slash, which is sent to the server."""
        return self.model.partition("/")[2]

    def answering(self) -> dict[str, object]:
        """What could change an answer, the model apart."""
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}


def usage_of(completion: Any) -> tuple[int, int]:
    """Tokens in and out of a provider's reply; 0 where it does not say."""
    return tokens_in_and_out(getattr(completion, "usage", None) or getattr(completion, "usage_metadata", None))


def tokens_in_and_out(usage: Any) -> tuple[int, int]:
    """Tokens in and out; 0 where it does not say. The names are those of OpenAI, Anthropic and Google."""
    tokens_in = ("prompt_tokens", "input_tokens", "prompt_token_count")
    tokens_out = ("completion_tokens", "output_tokens", "candidates_token_count")
    return _first(usage, tokens_in), _first(usage, tokens_out)


def _first(usage: Any, names: Sequence[str]) -> int:
    values = (getattr(usage, name, None) for name in names)
    return counted(next((value for value in values if isinstance(value, int)), None))


def counted(value: object) -> int:
    """The number of tokens that a server says; 0 where it says none, or one that cannot be."""
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0


def _message(completion: Any) -> Any:
    choices = getattr(completion, "choices", None)
    return getattr(choices[0], "message", None) if choices else None


def is_filtered(completion: Any) -> bool:
    """Whether the provider's content filter stopped the reply."""
    choices: Any = getattr(completion, "choices", None) or [None]
    return getattr(choices[0], "finish_reason", None) == "content_filter"


def is_hollow(completion: Any) -> bool:
    """Whether a server sent something else than a completion, such as a gateway's page, or one without choices."""
    return isinstance(completion, str) or (hasattr(completion, "choices") and not completion.choices)


def text_of(completion: Any) -> str:
    """What the model wrote, as text: the content, or the arguments of its tool call."""
    message = _message(completion)
    calls = getattr(message, "tool_calls", None) or []
    arguments = getattr(getattr(calls[0], "function", None), "arguments", None) if calls else None
    return str(arguments or getattr(message, "content", None) or "")


def connect(settings: ModelSettings) -> AsyncInstructor:
    """An instructor client for the model.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or its provider's package is not installed.
    """
    import instructor

    from providers.bounds import bound, http_clients

    logging.getLogger("instructor").addHandler(logging.NullHandler())  # faults are told in rows and in one line, not on stderr
    if not settings.model_name:
        raise UsageError(f"--model {settings.model} names no provider: write provider/model, such as openai/gpt-4o-mini")
    if settings.base_url is not None or settings.provider == "openai":
        own: AsyncInstructor = instructor.from_openai(_openai(settings))
        return own
    try:
        client: Any = instructor.from_provider(settings.model, async_client=True)  # type: ignore[call-overload, unused-ignore]
    except (ImportError, ValueError, instructor.core.ConfigurationError) as error:
        raise UsageError(f"--model {settings.model}: {' '.join(str(error).split())}") from error
    for http_client in http_clients(client.client):
        bound(http_client, settings.most_bytes)
    return cast("AsyncInstructor", client)


def batch_client(settings: ModelSettings, most_bytes: int) -> openai.OpenAI:
    """A client for batches, whose replies have at most that many bytes.

    Raises:
        UsageError: the provider has none in the manner of OpenAI, or the key is missing.
    """
    import openai

    from providers.bounds import bound

    if settings.base_url is None and settings.provider != "openai":
        raise UsageError(
            f"--batch works with OpenAI and OpenAI-compatible servers (--base-url), not with {settings.provider}: leave it out"
        )
    http_client = openai.DefaultHttpxClient()
    bound(http_client, most_bytes)
    return openai.OpenAI(base_url=settings.base_url, api_key=key_of(settings), timeout=settings.timeout_s, http_client=http_client)


def _openai(settings: ModelSettings) -> Any:
    import openai

    from providers.bounds import bound

    # the aiohttp transport: httpx scans its whole pool for every request, which is slow with many in flight
    http_client = openai.DefaultAioHttpClient()
    bound(http_client, settings.most_bytes)
    return openai.AsyncOpenAI(
        base_url=settings.base_url,
        api_key=key_of(settings),
        max_retries=0,  # tenacity retries, so that every request is counted and waits at the shared gate
        timeout=settings.timeout_s,
        http_client=http_client,
    )


def key_of(settings: ModelSettings) -> str:
    """The key for the model's server.

    Raises:
        UsageError: it is missing.
    """
    variable = settings.key_variable or "OPENAI_API_KEY"
    key = os.environ.get(variable) or ("none" if settings.base_url and settings.key_variable is None else None)
    if key is None:
        raise UsageError(f"--model {settings.model} needs a key: set {variable}, or name a server of your own with --base-url")
    return key


def call_arguments(settings: ModelSettings) -> Mapping[str, Any]:
    """What goes with every request."""
    own_openai = settings.provider == "openai" and settings.base_url is None
    arguments: dict[str, Any] = {"max_completion_tokens" if own_openai else "max_tokens": settings.max_tokens}
    if settings.temperature is not None:
        arguments["temperature"] = settings.temperature
    if own_openai or settings.base_url is not None:
        arguments["model"] = settings.model_name
    return arguments
