"""How a stub server is served: on a thread of the test's own process, or as a process that prints its port."""

from __future__ import annotations

import asyncio
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import orjson
from aiohttp import web

_LARGEST_BODY: int = 64 * 2**20


def application() -> web.Application:
    """An app without routes that takes large requests."""
    return web.Application(client_max_size=_LARGEST_BODY)


def json_reply(value: object) -> web.Response:
    """A reply in JSON."""
    return web.Response(body=orjson.dumps(value), content_type="application/json")


@contextmanager
def served(app: web.Application, encrypted: ssl.SSLContext | None = None) -> Iterator[str]:
    """The app on a thread of this process, at a free port, encrypted if it has a certificate; gives its base URL."""
    started: Future[tuple[int, Callable[[], object]]] = Future()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        runner = await _started(app, 0, encrypted)
        started.set_result((runner.addresses[0][1], lambda: loop.call_soon_threadsafe(stop.set)))
        await stop.wait()
        _drop_connections(runner)
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port, stop = started.result(timeout=30)
    try:
        yield f"{'https' if encrypted else 'http'}://127.0.0.1:{port}/v1"
    finally:
        stop()
        thread.join()


def serve_until_killed(app: web.Application, port: int = 0) -> None:
    """The app in this process, whose first line of output is the port."""

    async def serve() -> None:
        runner = await _started(app, port)
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    asyncio.run(serve())


def _drop_connections(runner: web.AppRunner) -> None:
    """Also those whose client does not read what is still to be sent, which would outlive their loop."""
    assert runner.server is not None
    for connection in runner.server.connections:
        if connection.transport is not None:
            connection.transport.abort()


async def _started(app: web.Application, port: int, encrypted: ssl.SSLContext | None = None) -> web.AppRunner:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)  # handlers that hang are not waited for
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024, ssl_context=encrypted).start()
    return runner
