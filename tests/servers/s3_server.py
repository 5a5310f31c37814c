"""A local object store that speaks S3: moto's, one request at a time, so that a conditional put is as whole as Amazon's.

`s3_server()` starts it as a process of its own and sets the usual variables of the environment for the block.
`asked(url)` tells what it was asked.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

BUCKET = "games"
_ASKED = "/what-was-asked"


@contextmanager
def s3_server() -> Iterator[str]:
    """An object store with one bucket that is empty; gives its URL."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
        with mock.patch.dict(os.environ, {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_EC2_METADATA_DISABLED": "true", **keys}):
            yield url
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def asked(url: str) -> list[tuple[str, str, str]]:
    """Method, path and range of bytes (empty: all) of each request so far, in order."""
    with urllib.request.urlopen(f"{url}{_ASKED}") as answer:  # noqa: S310 - the server's own address
        return [(method, path, part) for method, path, part in json.load(answer)]


def _telling(app: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """An object store that also tells what it was asked."""
    found: list[tuple[str, str, str]] = []

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == _ASKED:
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(found).encode()]
        found.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE", "")))
        return app(environ, start_response)

    return answer


def _serve() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    server = make_server("127.0.0.1", 0, _telling(DomainDispatcherApplication(create_backend_app)), threaded=False)
    from moto.s3.models import s3_backends

    s3_backends["123456789012"]["aws"].create_bucket(BUCKET, "us-east-1")
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    _serve()
