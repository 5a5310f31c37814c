"""The providers that are known by name: in which protocol, where, and with which key each is asked."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from providers.provider import Mode, ModelSettings, is_own
from schemas.errors import UsageError
from schemas.secrets import use_secret
from schemas.text import excerpt

__all__ = ["PROVIDERS", "Provider", "address_of", "endpoints", "is_at_own_server", "key_in", "key_of", "provider_of"]

Protocol = Literal["openai", "azure", "anthropic", "google", "bedrock", "litellm"]


class Provider(NamedTuple):
    """How a provider is asked."""

    protocol: Protocol
    base_url: str | None
    """Where, unless the user or the environment says otherwise; None: there is no usual address."""
    keys: tuple[str, ...]
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
    "openai": Provider("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    "anthropic": Provider("anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", package="anthropic"),
    "google": Provider(
        "google",
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        package="google.genai",
    ),
    "mistral": Provider("openai", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "MISTRAL_BASE_URL"),
    "groq": Provider("openai", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "GROQ_BASE_URL"),
    "ollama": Provider("openai", "http://localhost:11434/v1", (), "OLLAMA_BASE_URL", mode="json_schema"),
    "azure_openai": Provider("azure", None, ("AZURE_OPENAI_API_KEY",), "AZURE_OPENAI_ENDPOINT", prices="azure"),
    "bedrock": Provider(
        "bedrock", None, ("AWS_BEARER_TOKEN_BEDROCK",), "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", prices="aws", package="aiobotocore"
    ),
    "litellm": Provider("litellm", None, (), package="litellm"),
    "anyscale": Provider("openai", "https://api.endpoints.anyscale.com/v1", ("ANYSCALE_API_KEY",)),
    "cerebras": Provider("openai", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    "cohere": Provider("openai", "https://api.cohere.ai/compatibility/v1", ("COHERE_API_KEY", "CO_API_KEY")),
    "deepseek": Provider("openai", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",)),
    "fireworks": Provider("openai", "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    "openrouter": Provider("openai", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "perplexity": Provider("openai", "https://api.perplexity.ai", ("PERPLEXITY_API_KEY",), mode="json_schema"),
    "together": Provider("openai", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    "xai": Provider("openai", "https://api.x.ai/v1", ("XAI_API_KEY",), prices="x-ai"),
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
    provider = PROVIDERS.get(settings.provider)
    named = os.environ.get(provider.url_variable) if provider and provider.url_variable else None
    return is_own(settings.base_url or named or (provider.base_url if provider else None))


def address_of(settings: ModelSettings) -> str | None:
    """Where the model is asked; None: the provider has no address that is usual.

    Raises:
        UsageError: what is named is no address to which paths can be added; or as `provider_of`.
    """
    provider = provider_of(settings)
    if settings.base_url:
        return _base(settings.base_url, "--base-url")
    named = os.environ.get(provider.url_variable) if provider.url_variable else None
    return _base(named, provider.url_variable) if named else provider.base_url


def _base(address: str, source: str | None) -> str:
    address = address.strip()
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


def keys_of(settings: ModelSettings) -> tuple[str, ...]:
    """The environment variables in which the key for the model's server may stand.

    Raises:
        UsageError: as `provider_of`.
    """
    provider = provider_of(settings)
    return (settings.key_variable,) if settings.key_variable else tuple(provider.keys)


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
    provider, variables = provider_of(settings), keys_of(settings)
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
    servers = [replace(settings, base_url=url) for url in base_urls] or [settings]
    if not key_variables:
        return tuple(servers)
    if len(servers) == 1:
        servers *= len(key_variables)
    keys = list(key_variables) * len(servers) if len(key_variables) == 1 else list(key_variables)
    if len(keys) != len(servers):
        raise UsageError(f"{len(servers)} times --base-url but {len(keys)} times --key-env: give one key for all, or one for each server")
    return tuple(replace(server, key_variable=key) for server, key in zip(servers, keys, strict=True))
