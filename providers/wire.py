"""One HTTP transport for the clients of all providers: bounded in time and size, without secrets, never on to a server that was not named.

`Wire` is an `httpx.AsyncBaseTransport` over aiohttp, which takes a third of the CPU of httpx' own. What HTTP calls a failure leaves it as
a `Fault` (`providers.faults`), the same for every client, which wraps it in an error of its own.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import httpx
from yarl import URL

from providers.faults import Fault, HopelessError, NodeLost, NoServer, TimedOut, of_response
from schemas.common.cluster import connected, is_used
from schemas.common.errors import CotraceError, UsageError
from schemas.common.text import excerpt, replace_lone_surrogates, strike, strike_bytes, use_secret

if TYPE_CHECKING:
    from ssl import SSLContext

Turn: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3
_SUCCESSES: Final = range(200, 300)
_IDLE_S: Final = 15.0
"""Servers close idle connections at will; a request that meets a closed one is lost."""
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_CALLS_A_NODE: Final = 1_000
"""Under way at once; the one who asks bounds them already."""
_OF_THE_CONNECTION: Final = frozenset({"host", "accept-encoding", "connection", "content-length", "transfer-encoding"})


WRONG_ADDRESS: Final = httpx.InvalidURL
"""What the client raises for an address that is none."""


class Response(NamedTuple):
    """What came back, unpacked and without the secrets in use."""

    status: int
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes


class Wire(httpx.AsyncBaseTransport):
    """The transport of one server.

    Args:
        turn: entered before each request goes out: pauses, limits, the budget.
        timeout_s: for one request, from sending to the last byte.
        most_bytes: of a body, packed and unpacked.
    """

    def __init__(self, turn: Turn, timeout_s: float, most_bytes: int) -> None:
        self._turn = turn
        self._exchange: Exchange | _ClusterExchange = (_ClusterExchange if is_used() else Exchange)(timeout_s, most_bytes)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the whole reply.

        Raises:
            Fault: no reply came, or one with an HTTP status of failure.
            HopelessError: no request of this run can succeed.
        """
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_CONNECTION}
        async with self._turn():
            found = await self._exchange.send(request.method, str(request.url), headers, await request.aread())
            if found.status not in _SUCCESSES:
                raise of_response(found.status, found.headers, found.body)
        kind = found.headers.get("content-type", "application/json")
        return httpx.Response(found.status, headers={"content-type": kind}, content=_whole_letters(found.body), request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._exchange.close()


def http_client(turn: Turn, timeout_s: float, most_bytes: int) -> httpx.AsyncClient:
    """The HTTP client of an SDK, over a `Wire` with these bounds."""
    return httpx.AsyncClient(transport=Wire(turn, timeout_s, most_bytes), timeout=None)  # noqa: S113 - the wire has the limit


def _whole_letters(body: bytes) -> bytes:
    """A body of JSON in which halves of surrogate pairs, which models write now and then and no table takes, are U+FFFD."""
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    try:
        return json.dumps(replace_lone_surrogates(json.loads(body)), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return body


class Exchange:
    """Requests from this process.

    Args:
        timeout_s: for one request, from sending to the last byte.
        most_bytes: of a body, packed and unpacked.
    """

    def __init__(self, timeout_s: float, most_bytes: int) -> None:
        self._timeout_s, self._most_bytes = timeout_s, most_bytes
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Send a request and read the whole reply, whatever its status is.

        Raises:
            Fault: no reply came.
            HopelessError: the server sends requests on to another one.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._send(method, URL(url, encoded=True), headers, body)  # what was signed must stay as it is
        except TimeoutError as error:
            raise TimedOut.after(self._timeout_s) from error
        except aiohttp.ClientError as error:
            raise _fault_of(error) from error

    async def _send(self, method: str, url: URL, headers: Mapping[str, str], body: bytes) -> Response:
        sent = {**headers, "Accept-Encoding": "gzip, deflate"}
        session, there = self._open(url), url
        for _ in range(_MOST_REDIRECTS):
            async with session.request(method, there, data=body, headers=sent, allow_redirects=False, proxy=self._proxy) as response:
                if response.status in _REDIRECTS and "Location" in response.headers:
                    there = redirected(there, response.headers["Location"])
                    continue
                read = await self._read(response)
                return Response(response.status, {name.lower(): strike(value) for name, value in response.headers.items()}, read)
        raise HopelessError(f"{url.host} sends requests round in circles: give its address with --base-url")

    def _open(self, url: URL) -> aiohttp.ClientSession:
        """Made by the first request, since it belongs to the event loop that runs then."""
        if self._session is None:
            self._proxy = proxy_of(url)
            ssl = _certificates() if url.scheme == "https" else True
            connector = _Connector(limit=0, keepalive_timeout=_IDLE_S, ssl=ssl)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=aiohttp.ClientTimeout())
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        counted = Counted(self._most_bytes, response.headers.get("Content-Encoding", ""))
        return strike_bytes(b"".join([counted.take(chunk) async for chunk in response.content.iter_any()]))

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


class _Connector(aiohttp.TCPConnector):
    """Reuses no connection on which something has come that no request has asked for: it would be taken for the next reply."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self._used: WeakSet[Any] = WeakSet()
        """Protocols of connections that have carried a request; on a new one a server may speak first, however often it is opened."""

    async def connect(self, *args: Any, **more: Any) -> aiohttp.connector.Connection:
        while (protocol := (found := await super().connect(*args, **more)).protocol) in self._used and _has_more(protocol):
            found.close()
        self._used.add(protocol)
        return found


def _has_more(protocol: Any) -> bool:
    """Whether something has come since the last reply, or the end: read already, or, where the event loop is late, not yet."""
    if protocol.should_close or protocol.transport is None:
        return True
    with DefaultSelector() as selector:
        selector.register(protocol.transport.get_extra_info("socket"), EVENT_READ)
        return bool(selector.select(0))


class Counted:
    """Unpacks a body as it comes, and stops where it grows too large."""

    def __init__(self, most_bytes: int, encoding: str) -> None:
        encoding = encoding.strip().lower()
        if encoding not in {"", "identity", "gzip", "deflate"}:
            raise Fault(f"the reply is packed as {encoding[:20]!r}, which was not asked for", again=False, came=True)
        self._most = most_bytes
        self._came = self._gave = 0
        self._unpack = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in {"gzip", "deflate"} else None

    def take(self, chunk: bytes) -> bytes:
        """The chunk's content.

        Raises:
            Fault: with it, there is too much, or it is not packed as its header states.
        """
        self._came += len(chunk)
        try:  # one byte more than allowed shows that there is more
            content = self._unpack.decompress(chunk, self._most - self._gave + 1) if self._unpack else chunk
        except zlib.error as error:
            raise Fault(f"the reply cannot be unpacked ({error})", came=True) from error
        self._gave += len(content)
        if max(self._came, self._gave) > self._most:
            raise Fault(f"the reply has more than {self._most:,} bytes, which no answer takes", again=False, came=True)
        return content


def redirected(here: URL, location: str) -> URL:
    """Where a redirect leads: within the host, and to its encrypted side.

    Raises:
        HopelessError: to another server, or nowhere.
    """
    try:
        there = here.join(URL(location))
        encrypted = (here.scheme, here.port, there.scheme, there.port) == ("http", 80, "https", 443)
        if there.host == here.host and (encrypted or there.origin() == here.origin()):
            return there
    except ValueError:
        pass
    raise HopelessError(
        f"{here.host} sends requests on to {excerpt(strike(location))}; keys and texts of logs go to no server that was not named: "
        "give its address with --base-url"
    )


def _fault_of(error: aiohttp.ClientError) -> Fault:
    """What an error of a connection amounts to."""
    words = excerpt(strike(str(error))) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or words
        return NoServer(f"its certificate is not trusted, {why}: name the file with the certificate of who signed it in SSL_CERT_FILE")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return Fault("the server closed the connection without a reply")
    if isinstance(error, aiohttp.ClientConnectorError):
        if error.os_error.errno == errno.ECONNREFUSED:
            is_proxy = isinstance(error, aiohttp.ClientProxyConnectionError)
            return NoServer(f"connection refused by the proxy {error.host}:{error.port}" if is_proxy else "connection refused")
        if isinstance(error.os_error, socket.gaierror) and error.os_error.errno != socket.EAI_AGAIN:
            return NoServer(f"no host is called {error.host}")
    return Fault(f"connection error: {words}")


def _certificates() -> SSLContext:
    """Those of the system or of SSL_CERT_FILE; where there are none, as in small containers, those of certifi."""
    import ssl

    context = ssl.create_default_context()
    if not context.get_ca_certs():
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def proxy_of(url: URL) -> str | None:
    """The proxy that the environment names for a server (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY); None if there is none.

    Raises:
        UsageError: it cannot be used.
    """
    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all")
    if not proxy or any(proxy_bypass(name) for name in (url.host or "", f"{url.host}:{url.port}")):
        return None
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
        use_secret(parts.password)
    except ValueError:
        usable = False
    if not usable:
        kind = address.partition("://")[0]
        raise UsageError(
            f"the environment names a proxy for {url.scheme} that cannot be used ({kind}://...): name one such as http://proxy:3128, "
            f"or add {url.host} to NO_PROXY"
        )
    return address


class _ClusterExchange:
    """Requests from the nodes of the cluster in use, each from the next. One that is lost takes the replies with it that were on their way.

    A lost node is not asked again, since the cluster lists it for a while yet; where none is left, requests go out from here.
    """

    def __init__(self, timeout_s: float, most_bytes: int) -> None:
        self._bounds = timeout_s, most_bytes
        self._here = Exchange(timeout_s, most_bytes)
        self._senders: dict[str, object] = {}
        self._lost: set[str] = set()
        self._has_answered = False

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        """As `Exchange.send`.

        Raises:
            NodeLost: the node was lost.
            HopelessError: all were, before one of them had answered.
        """
        node = self._next()
        if node is None:
            return await self._here.send(method, url, headers, body)
        try:
            outcome = await self._senders[node].send.remote(method, url, dict(headers), body)  # type: ignore[attr-defined]
        except connected().exceptions.RayError as error:
            self._senders.pop(node, None)
            self._lost.add(node)
            raise NodeLost(f"a node of the cluster was lost ({type(error).__name__})") from error
        self._has_answered = True
        if isinstance(outcome, Response):
            return outcome
        raise outcome

    def _next(self) -> str | None:
        """The node that has waited longest; where none is left, or at the beginning, each that is new gets a sender."""
        if not self._senders:
            ray = connected()
            sender = ray.remote(num_cpus=0, max_concurrency=_CALLS_A_NODE)(_Sender)
            at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["NodeID"] not in self._lost]
            self._senders = {node: sender.options(scheduling_strategy=at(node, soft=False)).remote(*self._bounds) for node in nodes}
        if not self._senders:
            if self._has_answered:
                return None
            raise HopelessError("no node of the cluster can send a request: is this version of cotrace installed on all of them?")
        node = next(iter(self._senders))
        self._senders[node] = self._senders.pop(node)
        return node

    async def close(self) -> None:
        """Close the connections of all nodes."""
        for sender in self._senders.values():
            connected().kill(sender)
        await self._here.close()


class _Sender(Exchange):
    """One node's connections to the server."""

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Any:
        """The response, or the fault that came instead."""
        for value in headers.values():  # the secrets in use are known where they were read: here they are in the headers
            use_secret(value.removeprefix("Bearer "))
        try:
            return await super().send(method, url, headers, body)
        except (Fault, CotraceError) as error:
            return error
