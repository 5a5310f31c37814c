"""Which model is asked, and how."""

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import cycle
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from schemas.common.errors import UsageError
from schemas.common.packages import packaged_yaml
from schemas.common.text import excerpt, use_secret

Effort = Literal["none", "minimal", "low", "medium", "high"]
Mode = Literal["tools", "json", "json_schema"]

EFFORTS: Final[Mapping[Effort, int]] = {"none": 0, "minimal": 1024, "low": 2048, "medium": 8192, "high": 24_576}
"""How much a model may reason -> the tokens that are left for it."""

_KINDS: Final[Mapping[str, Sequence[str]]] = packaged_yaml(__package__, "models.yaml")
LONGER: Final = 2
"""By how much the longest reply is multiplied when a reply was cut."""
_LOCAL_NAME: Final = re.compile(r"(?:^|\.)localhost$|\.(?:local|lan|internal|home|test)$|^[^.:]+$")
"""Hosts that only a machine or a private network knows."""
_MOST_BYTES_A_TOKEN: Final = 64
_SLOW: Final = 20.0
"""Tokens/s, below which a reply of 1,500 tokens takes more than a minute."""
_MOST_BYTES_BESIDES: Final = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSettings:
    """Which model, and how it is asked."""

    model: str
    """provider/model, such as openai/gpt-4o-mini."""
    base_url: str | None = None
    """A server of the provider's kind, for unknown providers of OpenAI's; None: the provider's own."""
    key_variable: str | None = None
    """Environment variable with the key; None: the provider's usual one."""
    temperature: float | Literal["default"] | None = "default"
    """`default`: the usual one, but for models that reason, which get none. None: none is sent."""
    usual_temperature: float = 0.0
    """What `default` stands for."""
    top_p: float | None = None
    """Share of the likeliest tokens that are sampled from; None: none is sent."""
    max_tokens: int = 1500
    """Longest reply, in tokens, reasoning apart."""
    reasoning_effort: Effort | None = None
    """How much the model may reason before it answers; None: as it does by itself."""
    mode: Mode | None = None
    """How a form is asked for: as a tool to call, as JSON, or as JSON that the server holds to the schema; None: as suits the provider."""
    logprobs: bool = False
    """Whether to ask for the probabilities of the reply's tokens."""
    timeout_s: float = 120.0
    """For one request, from sending to the last byte."""
    tries: int = 6
    """Requests for one question when the server fails; 429 does not count."""
    reasks: int = 2
    """How often a model is shown what was wrong with its reply and asked again."""
    patience_s: float = 120.0
    """How long a call goes on trying while all the server says, to any call, is 429."""
    request_fields: tuple[tuple[str, Any], ...] = ()
    """More fields of each request, as the server calls them, with their values."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """More headers of each request; they may hold secrets."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    context: int | None = None
    """Tokens that the server takes in one call, prompt and reply together; None: not known."""
    reply_speed: float | None = None
    """Tokens/s that it writes of each reply while all its slots are in use; None: not known."""

    @property
    def provider(self) -> str:
        """The part before the first slash."""
        return self.model.partition("/")[0]

    @property
    def model_name(self) -> str:
        """The part after the first slash, which is sent to the server."""
        return self.model.partition("/")[2]

    @property
    def reasons(self) -> bool:
        """Whether the model reasons before it answers."""
        if self.reasoning_effort is not None:
            return self.reasoning_effort != "none"
        return self.is_one_that("reasons") and not self.is_one_that("plain")

    @property
    def sampling_temperature(self) -> float | None:
        """What is sent; None: nothing."""
        if self.temperature == "default":
            return None if self.reasons else self.usual_temperature
        return self.temperature

    @property
    def reasoning_tokens(self) -> int:
        """Tokens that are left for reasoning."""
        return EFFORTS[self.reasoning_effort or "medium"] if self.reasons else 0

    @property
    def is_slow(self) -> bool:
        """Whether the server is known to take minutes for a long reply."""
        return self.reply_speed is not None and self.reply_speed < _SLOW

    @property
    def limit(self) -> int:
        """Longest reply with its reasoning, in tokens."""
        return self.max_tokens + self.reasoning_tokens

    def most_bytes(self, replies: int = 1) -> int:
        """The largest body that replies can have: a token may take dozens of bytes as escaped JSON, and servers add facts of their own."""
        probabilities = 4 if self.logprobs else 1
        return _MOST_BYTES_BESIDES + replies * probabilities * _MOST_BYTES_A_TOKEN * self.limit

    @property
    def form_mode(self) -> Mode | None:
        """How a form has to be asked for; no server tells the probabilities of what is written into a tool's arguments."""
        return self.mode or ("json_schema" if self.logprobs else None)

    def is_one_that(self, kind: str) -> bool:
        """Whether the model's name is on that list of models.yaml: reasons, plain, adaptive, levels."""
        return _is_one(self.model.rpartition("/")[2].lower(), kind)

    def answering(self) -> dict[str, object]:
        """What could change an answer, the model apart; what is not set is left out, so that older runs stay comparable."""
        chosen: dict[str, object] = {
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
            "mode": self.mode,
            "logprobs": self.logprobs or None,
        }
        chosen["request_fields"] = dict(self.request_fields) or None
        found: dict[str, object] = {"temperature": self.sampling_temperature, "max_tokens": self.max_tokens}
        return found | {name: value for name, value in chosen.items() if value is not None}


@cache
def is_own(base_url: str | None) -> bool:
    """Whether an address is one of this machine or of a private network: what a server there costs is on no price list."""
    host = urlsplit(base_url or "").hostname
    if host is None:
        return False
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _LOCAL_NAME.search(host) is not None
    return address.is_private or address.is_loopback or address.is_link_local


@cache
def _is_one(name: str, kind: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _KINDS[kind])


Protocol = Literal["openai", "azure", "anthropic", "google", "bedrock", "mistral", "litellm"]


class Provider(NamedTuple):
    """How a provider is asked."""

    protocol: Protocol = "openai"
    base_url: str | None = None
    """Where, unless the user or the environment says otherwise; None: there is no usual address."""
    keys: tuple[str, ...] = ()
    """Environment variables that may hold the key, the first one that is set counts; empty: it takes none."""
    url_variable: str | None = None
    """Environment variable that may hold the address."""
    prices: str | None = None
    """What genai-prices calls it; None: by the same name."""
    mode: Mode | None = None
    """How forms are asked for best; None: as the protocol does it best."""
    package: str | None = None
    """The package that it needs beside the client of OpenAI; None: none."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    name: Provider(**{**fields, "keys": tuple(fields.get("keys", ()))})
    for name, fields in packaged_yaml(__package__, "providers.yaml").items()
}
"""Name before the first slash of --model -> how it is asked."""

_ANY: Final = Provider("openai", None, ("OPENAI_API_KEY",))
"""A server of the user's own, under whatever name."""
_NO_KEY: Final = "none"


def provider_of(settings: ModelSettings) -> Provider:
    """How the model's provider is asked; with an address of the user's own, an unknown name stands for a server of OpenAI's kind.

    Raises:
        UsageError: the model's name is incomplete, or no such provider is known.
    """
    if not settings.model_name:
        raise UsageError(f"--model {settings.model} names no provider: write provider/model, such as openai/gpt-4o-mini")
    known = PROVIDERS.get(settings.provider)
    if known is not None:
        return known
    if settings.base_url is not None:
        return _ANY
    near = difflib.get_close_matches(settings.provider, PROVIDERS, n=1, cutoff=0.7)
    meant = f"did you mean {near[0]}? " if near else ""
    raise UsageError(
        f"--model {settings.model}: there is no provider {settings.provider}; {meant}known are {', '.join(PROVIDERS)}; "
        "others through litellm/PROVIDER/MODEL, or name a server of your own with --base-url"
    )


def is_at_own_server(settings: ModelSettings) -> bool:
    """Whether the model is asked at an address of this machine or a private network."""
    provider = PROVIDERS.get(settings.provider, _ANY)
    return is_own(settings.base_url or os.environ.get(provider.url_variable or "") or provider.base_url)


def address_of(settings: ModelSettings) -> str | None:
    """Where the model is asked; None: the provider has no address that is usual.

    Raises:
        UsageError: what is named is no address to which paths can be added; or as `provider_of`.
    """
    provider = provider_of(settings)
    source = "--base-url" if settings.base_url else provider.url_variable
    address = (settings.base_url or os.environ.get(provider.url_variable or "") or "").strip()
    if not address:
        return provider.base_url
    try:
        parts = urlsplit(address)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_one = False
    if not is_one:
        raise UsageError(f"{source} {excerpt(address)} is no address: write one such as http://localhost:8000/v1")
    if parts.username is not None:
        raise UsageError(
            f"{source} holds a name or a password for {parts.hostname}: leave it out, and name a variable with a key by --key-env"
        )
    if parts.query or parts.fragment:
        raise UsageError(f"{source} {excerpt(address)} ends in ? or #, behind which no path can follow: leave that out")
    return address


def key_in(variable: str) -> str | None:
    """The key in an environment variable, without the blanks and line ends that files of keys bring along; None if there is none.

    Raises:
        UsageError: no header can hold it.
    """
    key = os.environ.get(variable, "").strip()
    if any(not letter.isprintable() for letter in key):
        raise UsageError(f"{variable} holds a line end or another character that no key has: set it to the key alone")
    return use_secret(key or None)


def key_of(settings: ModelSettings) -> str:
    """The key for the model's server; `none` for one that takes none, and for one of the user's own unless a key is set.

    Raises:
        UsageError: it is missing, or none; or as `provider_of`.
    """
    provider = provider_of(settings)
    variables = (settings.key_variable,) if settings.key_variable else provider.keys
    key = next((found for variable in variables if (found := key_in(variable))), None)
    if key is not None:
        return key
    if settings.key_variable is None and (settings.base_url is not None or not provider.keys):
        return _NO_KEY
    raise UsageError(f"--model {settings.model} needs a key: set {variables[0]}, or name a server of your own with --base-url")


def endpoints(settings: ModelSettings, base_urls: Sequence[str], key_variables: Sequence[str]) -> tuple[ModelSettings, ...]:
    """The model's settings once for each server and key.

    Args:
        settings: without server and key.
        base_urls: servers; empty: the provider's own.
        key_variables: names of environment variables with keys; empty: the usual one.

    Raises:
        UsageError: several of both, but not equally many.
    """
    urls: Sequence[str | None] = base_urls or [settings.base_url]
    keys: Sequence[str | None] = key_variables or [settings.key_variable]
    if len(urls) != len(keys) and min(len(urls), len(keys)) > 1:
        raise UsageError(f"{len(urls)} times --base-url but {len(keys)} times --key-env: give one key for all, or one for each server")
    pairs = zip(cycle(urls), cycle(keys), range(max(len(urls), len(keys))), strict=False)
    return tuple(replace(settings, base_url=url, key_variable=key) for url, key, _ in pairs)
