"""Which model is asked, and how."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import yaml

__all__ = ["EFFORTS", "LONGER", "Effort", "Mode", "ModelSettings", "is_own"]

Effort = Literal["none", "minimal", "low", "medium", "high"]
Mode = Literal["tools", "json", "json_schema"]

EFFORTS: Final[Mapping[Effort, int]] = {"none": 0, "minimal": 1024, "low": 2048, "medium": 8192, "high": 24_576}
"""How much a model may reason -> the tokens that are left for it."""

_MODELS: Final = Path(__file__).parent / "models.yaml"
LONGER: Final = 2
"""By how much the longest reply is multiplied when a reply was cut."""
_LOCAL_NAME: Final = re.compile(r"(?:^|\.)localhost$|\.(?:local|lan|internal|home|test)$|^[^.:]+$")
"""Hosts that only a machine or a private network knows."""
_MOST_BYTES_A_TOKEN: Final = 64
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
    def reasoning_room(self) -> int:
        """Tokens that are left for reasoning."""
        return EFFORTS[self.reasoning_effort or "medium"] if self.reasons else 0

    @property
    def limit(self) -> int:
        """Longest reply with its reasoning, in tokens."""
        return self.max_tokens + self.reasoning_room

    @property
    def most_bytes(self) -> int:
        """The largest body that a reply can have: a token may take dozens of bytes as escaped JSON, and servers add facts of their own."""
        probabilities = 4 if self.logprobs else 1
        return _MOST_BYTES_BESIDES + probabilities * _MOST_BYTES_A_TOKEN * self.limit

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
    return any(fnmatchcase(name, pattern) for pattern in _kinds()[kind])


@cache
def _kinds() -> Mapping[str, Sequence[str]]:
    found: Mapping[str, Sequence[str]] = yaml.safe_load(_MODELS.read_text("utf-8"))
    return found
