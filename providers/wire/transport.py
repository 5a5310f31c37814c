"""One HTTP request over aiohttp: bounded in time and size, and never passed on to a server that was not named.

The providers' own clients build typed objects around every request and reply, which takes ten times as long as the request itself; what
they know of a protocol stands in `providers.protocols`.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from providers.faults import DamagedError, Fault, HopelessError, NobodyThere, OversizeError, TimedOut
from providers.wire.proxy import proxy_of
from providers.wire.unpacking import Counted
from schemas.errors import UsageError
from schemas.secrets import strike, strike_bytes
from schemas.text import excerpt

if TYPE_CHECKING:
    from ssl import SSLContext

    import aiohttp
    from yarl import URL

__all__ = ["Headers", "Response", "Transport"]

_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3
_IDLE_S: Final = 15.0
"""Servers close idle connections at will; a request that meets a closed one is lost."""


_ALWAYS: Final = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}

Headers = Mapping[str, str] | Callable[[bytes], Mapping[str, str]]
"""What goes with every request, or what makes it for a body, which may have to be signed."""


class Response(NamedTuple):
    """What came back, without the secrets in use."""

    status: int
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes


class Transport:
    """The connections to one server.

    Raises:
        UsageError: the address is none.
    """

    def __init__(self, url: str, headers: Headers, *, timeout_s: float, most_bytes: int) -> None:
        from yarl import URL

        try:
            URL(url)
            self._url = URL(url, encoded=True)  # as it is: what was signed must not be spelt otherwise
        except ValueError as error:
            raise UsageError(f"--base-url {excerpt(url)} is no address ({error}): write one such as http://localhost:8000/v1") from error
        if self._url.scheme not in {"http", "https"} or not self._url.host:
            raise UsageError(f"--base-url {excerpt(url)} is no address: write one such as http://localhost:8000/v1")
        self._headers = headers
        self._timeout_s = timeout_s
        self._most_bytes = most_bytes
        self._proxy = proxy_of(self._url)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def post(self, body: bytes) -> Response:
        """Send a request and read the whole reply, whatever its status is.

        Raises:
            Fault: no reply came.
            HopelessError: the server sends requests on to another one.
        """
        import aiohttp

        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._post(body)
        except TimeoutError as error:
            raise TimedOut(self._timeout_s) from error
        except OversizeError as error:
            raise Fault(str(error), status=None, retry_after_s=None, again=False, came=True) from error
        except DamagedError as error:
            raise Fault(str(error), status=None, retry_after_s=None, again=True, came=True) from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise NobodyThere(_distrusted(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise _not_connected(error) from error
        except aiohttp.ClientError as error:
            raise Fault(f"connection error: {_told(error)}", status=None, retry_after_s=None, again=True) from error

    async def _post(self, body: bytes) -> Response:
        url = self._url
        headers = _ALWAYS | dict(self._headers(body) if callable(self._headers) else self._headers)
        for _ in range(_MOST_REDIRECTS):
            async with self._open().post(url, data=body, headers=headers, allow_redirects=False, proxy=self._proxy) as response:
                if response.status in _REDIRECTS and "Location" in response.headers:
                    url = self._followed(url, response.headers["Location"])
                    continue
                told = {name.lower(): strike(value) for name, value in response.headers.items()}
                return Response(response.status, told, strike_bytes(await self._read(response)))
        raise HopelessError(f"{self._url.host} sends requests round in circles: give its address with --base-url")

    def _open(self) -> aiohttp.ClientSession:
        """Made by the first request, since it belongs to the event loop that runs then."""
        if self._session is None:
            import aiohttp

            ssl = _certificates() if self._url.scheme == "https" else True
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S, ssl=ssl)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=aiohttp.ClientTimeout())
        return self._session

    def _followed(self, here: URL, location: str) -> URL:
        there = _target(here, location)
        if there is None:
            raise HopelessError(
                f"{here.host} sends requests on to {excerpt(strike(location))}; keys and texts of logs go to no server that was not named: "
                "give its address with --base-url"
            )
        return there

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        counted = Counted(self._most_bytes, response.headers.get("Content-Encoding", ""))
        return b"".join([counted.take(chunk) async for chunk in response.content.iter_any()])


def _target(here: URL, location: str) -> URL | None:
    """Where a redirect leads; None: to another server, or nowhere."""
    try:
        there = here.join(type(here)(location))
        encrypted = (here.scheme, here.port, there.scheme, there.port) == ("http", 80, "https", 443)
        return there if there.host == here.host and (encrypted or there.origin() == here.origin()) else None
    except ValueError:
        return None


def _not_connected(error: aiohttp.ClientConnectorError) -> Fault:
    """The fault of a connection that could not be made, in the words of the field."""
    import socket

    import aiohttp

    if error.os_error.errno == errno.ECONNREFUSED:
        is_proxy = isinstance(error, aiohttp.ClientProxyConnectionError)
        return NobodyThere(f"connection refused by the proxy {error.host}:{error.port}" if is_proxy else "connection refused")
    if isinstance(error.os_error, socket.gaierror) and error.os_error.errno != socket.EAI_AGAIN:
        return NobodyThere(f"no host is called {error.host}")
    return Fault(f"connection error: {_told(error)}", status=None, retry_after_s=None, again=True)


def _distrusted(error: aiohttp.ClientConnectorCertificateError) -> str:
    why = getattr(error.certificate_error, "verify_message", "") or _told(error)
    return f"its certificate is not trusted, {why}: name the file with the certificate of who signed it in SSL_CERT_FILE"


def _told(error: Exception) -> str:
    return excerpt(strike(str(error))) or type(error).__name__


def _certificates() -> SSLContext:
    """Those of the system or of SSL_CERT_FILE; where there are none, as in small containers, those of certifi."""
    import ssl

    context = ssl.create_default_context()
    if not context.get_ca_certs():
        import certifi

        context.load_verify_locations(certifi.where())
    return context
