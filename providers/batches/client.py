"""A client for batches in the manner of OpenAI: files that are uploaded, run within a day, and collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from providers.catalogue import address_of, key_of, provider_of
from providers.provider import ModelSettings
from providers.wire.bounds import bound
from schemas.errors import UsageError

if TYPE_CHECKING:
    import openai

__all__ = ["batch_client"]


def batch_client(settings: ModelSettings, most_bytes: int) -> openai.OpenAI:
    """A client whose replies have at most that many bytes.

    Raises:
        UsageError: the provider has no batches in the manner of OpenAI, or the key is missing.
    """
    import openai

    if provider_of(settings).protocol != "openai" or (settings.base_url is None and settings.provider != "openai"):
        raise UsageError(
            f"--batch works with OpenAI and OpenAI-compatible servers (--base-url), not with {settings.provider}: leave it out"
        )
    http_client = openai.DefaultHttpxClient()
    bound(http_client, most_bytes)
    return openai.OpenAI(base_url=address_of(settings), api_key=key_of(settings), timeout=settings.timeout_s, http_client=http_client)
