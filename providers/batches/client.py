"""A client for batches in the manner of OpenAI: files that are uploaded, run within a day, and collected.

Files of replies are read as they come, so the client has httpx' own transport; its hooks see each response before a byte of its body is
read, and bound it as `providers.wire` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx

from providers.catalogue import address_of, key_of, provider_of
from providers.faults import ForeignRedirectError
from providers.provider import ModelSettings
from providers.wire import Counted
from schemas.errors import UsageError

if TYPE_CHECKING:
    import openai

__all__ = ["batch_client", "bound"]


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


def bound(client: httpx.Client, most_bytes: int) -> None:
    """Have the client refuse bodies of more bytes than that, unpacked or not, and redirects to other hosts."""

    def ask(request: httpx.Request) -> None:
        request.headers["accept-encoding"] = "gzip, deflate"

    def look(response: httpx.Response) -> None:
        _stay(response)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Body(response.stream, Counted(most_bytes, response.headers.pop("content-encoding", "")))

    client.event_hooks = {"request": [*client.event_hooks["request"], ask], "response": [*client.event_hooks["response"], look]}


def _stay(response: httpx.Response) -> None:
    if not response.has_redirect_location:
        return
    here, there = response.url, response.url.join(response.headers["location"])
    upgraded = (here.scheme, here.port, there.scheme, there.port) == ("http", None, "https", None)
    if here.host != there.host or ((here.scheme, here.port) != (there.scheme, there.port) and not upgraded):
        raise ForeignRedirectError(f"{here.host} sends requests on to {there.scheme}://{there.host}:{there.port or ''}")


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, counted: Counted) -> None:
        self._stream, self._counted = stream, counted

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._counted.take(chunk)

    def close(self) -> None:
        self._stream.close()
