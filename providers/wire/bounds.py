"""What a server may send to the client for batches: replies of bounded size, however they are packed, and no redirects to another host.

That client is built on httpx, whose hooks see each response before a byte of its body is read; `providers.wire.transport` does the same for
its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import httpx

from providers.faults import ForeignRedirectError
from providers.wire.unpacking import Counted

__all__ = ["bound"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def bound(client: httpx.Client | httpx.AsyncClient, most_bytes: int) -> None:
    """Have the client refuse bodies of more bytes than that, unpacked or not, and redirects to other hosts."""

    def ask(request: httpx.Request) -> None:
        request.headers["accept-encoding"] = "gzip, deflate"

    def look(response: httpx.Response) -> None:
        _stay(response)
        counted = Counted(most_bytes, response.headers.pop("content-encoding", ""))
        stream: Any = response.stream
        response.stream = _AsyncBody(stream, counted) if isinstance(stream, httpx.AsyncByteStream) else _Body(stream, counted)

    async def ask_later(request: httpx.Request) -> None:
        ask(request)

    async def look_later(response: httpx.Response) -> None:
        look(response)

    later = isinstance(client, httpx.AsyncClient)
    hooks: dict[str, list[Any]] = client.event_hooks
    client.event_hooks = {
        "request": [*hooks["request"], ask_later if later else ask],
        "response": [*hooks["response"], look_later if later else look],
    }


def _stay(response: httpx.Response) -> None:
    if not response.has_redirect_location:
        return
    here, there = response.url, response.url.join(response.headers["location"])
    upgraded = (here.scheme, there.scheme) == ("http", "https") and (_port(here), _port(there)) == (80, 443)
    if here.host != there.host or ((here.scheme, _port(here)) != (there.scheme, _port(there)) and not upgraded):
        raise ForeignRedirectError(f"{here.host} sends requests on to {there.scheme}://{there.host}:{_port(there)}")


def _port(url: httpx.URL) -> int | None:
    return url.port or _DEFAULT_PORTS.get(url.scheme)


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, counted: Counted) -> None:
        self._stream, self._counted = stream, counted

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._counted.take(chunk)

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, counted: Counted) -> None:
        self._stream, self._counted = stream, counted

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._counted.take(chunk)

    def close(self) -> None:
        self._stream.close()
