"""Who may use the dashboard: pages of this machine's own browser, or, where it listens to a network, who has the token.

A web page anywhere can have its visitor's browser send requests to this machine. Two things tell them apart: `Host`, which a page that had
its name point here (DNS rebinding) cannot change, and `Origin`, which a browser adds to what other pages send.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode, urlsplit

from flask import Flask, Response, make_response, redirect, request

__all__ = ["LOCAL", "Access", "guard", "is_loopback", "new_token"]

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Access:
    """What a request must have to be answered."""

    token: str | None = None
    """In the link first, in a cookie then; None: none is needed."""
    any_host: bool = False
    """Whether the dashboard answers to every name, not only to those of this machine to itself."""

    def refusal(self) -> tuple[str, HTTPStatus] | None:
        """Why the present request is not answered; None: it may be."""
        if not self.any_host and not _names_loopback(request.host):
            return f"This dashboard answers to localhost only, not to {request.host[:100]!r}.", HTTPStatus.FORBIDDEN
        origin = request.headers.get("Origin")
        if origin is not None and _place(origin) != request.host.lower():
            return "Requests of other pages are not answered.", HTTPStatus.FORBIDDEN
        if request.method not in _READING and request.headers.get("Sec-Fetch-Site", "none") not in {"same-origin", "none"}:
            return "Requests of other pages are not answered.", HTTPStatus.FORBIDDEN
        if self.token is not None and not self.is_token(request.cookies.get(self.cookie)):
            return "This dashboard needs a token: open the link that `cotrace dash` printed.", HTTPStatus.UNAUTHORIZED
        return None

    @property
    def cookie(self) -> str:
        """Its name; another one for each token, because dashboards on other ports of a machine share its cookies."""
        return f"cotrace_{hashlib.sha256((self.token or '').encode()).hexdigest()[:12]}"

    def is_token(self, given: str | None) -> bool:
        """Whether that is the token."""
        return self.token is not None and given is not None and hmac.compare_digest(given.encode(), self.token.encode())


LOCAL: Final = Access()
"""Whoever sits at this machine, and no page from elsewhere."""


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


def guard(server: Flask, access: Access, *, free: tuple[str, ...] = ()) -> None:
    """Let the server answer only what the access allows.

    Args:
        server: the server.
        access: who may use it.
        free: beginnings of paths that hold a secret of their own, and need no token.
    """
    open_to_all = Access(any_host=access.any_host)

    @server.before_request
    def _allow() -> Response | None:
        if request.method == "GET" and access.is_token(request.args.get("token")):
            return _with_cookie(access.cookie, str(access.token))
        refused = (open_to_all if free and request.path.startswith(free) else access).refusal()
        return None if refused is None else Response(f"{refused[0]}\n", refused[1], mimetype="text/plain")

    @server.after_request
    def _add_headers(response: Response) -> Response:
        response.headers.update(_HEADERS)
        return response


def _with_cookie(name: str, token: str) -> Response:
    """The same page again, with the token in a cookie instead of the address, where it would be seen and sent on."""
    rest = urlencode([(key, value) for key, value in request.args.items(multi=True) if key != "token"])
    answer = make_response(redirect(f"/{request.path.lstrip('/')}{'?' if rest else ''}{rest}", HTTPStatus.SEE_OTHER))
    answer.set_cookie(name, token, httponly=True, samesite="Lax")
    return answer


def is_loopback(host: str) -> bool:
    """Whether listening on that host lets only this machine in."""
    try:
        found = {str(address[4][0]) for address in socket.getaddrinfo(host or "0.0.0.0", None)}  # noqa: S104 - what an empty host means
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)


def _place(origin: str) -> str | None:
    """Its host and port; None where it is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _names_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
