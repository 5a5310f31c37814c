"""Requests from browsers: who may ask, what is checked, how faults are answered."""

import hashlib
import hmac
import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar
from urllib.parse import urlencode, urlsplit

from flask import Flask, Response, make_response, redirect, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, validate_call
from werkzeug.exceptions import BadRequest, HTTPException

from schemas.common.errors import CotraceError, UsageError
from schemas.common.text import excerpt

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
            return "Requests of other pages are not answered (a proxy has to pass the header Host on).", HTTPStatus.FORBIDDEN
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
    answer = make_response(redirect(f"{request.script_root}/{request.path.lstrip('/')}{'?' if rest else ''}{rest}", HTTPStatus.SEE_OTHER))
    answer.set_cookie(name, token, path=request.script_root or "/", httponly=True, samesite="Lax")
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


P = ParamSpec("P")
R = TypeVar("R")

_LOG: Final = logging.getLogger(__name__)
_STAYS: Final = "Your answers stay on this page: save them again after that"
_KEPT: Final = "The note is still there: delete it again after that"
_OURS: Final = frozenset({"dashboards", "analytics", "judges", "ingest", "games", "schemas"})


class _Point(BaseModel):
    customdata: Any = None


class Click(BaseModel):
    """What a figure sends when one of its points is clicked."""

    points: list[_Point] = Field(min_length=1)


def checked(callback: Callable[P, R]) -> Callable[P, R]:
    """The callback, called only with arguments of the types that it names."""
    strict = validate_call(config=ConfigDict(strict=True))(callback)

    @wraps(callback)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return strict(*arguments, **named)
        except ValidationError as error:
            if error.title != callback.__qualname__.rpartition(".")[2]:
                raise
            raise BadRequest(excerpt(str(error.errors()[0]["msg"]))) from error

    return call


def saved(write: Callable[[], object]) -> str:
    """Store what a person gave; why it could not be stored, in one line, or nothing."""
    return _why_not(write, "Not saved", _STAYS)


def taken_back(remove: Callable[[], object]) -> str:
    """The same of a note that a person takes back."""
    return _why_not(remove, "Not deleted", _KEPT)


def _why_not(change: Callable[[], object], told: str, then: str) -> str:
    try:
        change()
    except UsageError as error:
        return f"{told}: {error}"
    except CotraceError as error:
        return f"{told}: {error}. {then}"
    except Exception as error:  # noqa: BLE001 - one of the named boundaries: whatever fails, the person is told beside what they gave
        return f"{told}: {tell('saving', error)}. {then}"
    return ""


def answer_faults(server: Flask) -> None:
    """Answer what goes wrong with a request in one line, here and in the browser."""

    @server.errorhandler(Exception)
    def _answer(error: Exception) -> Any:
        if isinstance(error, HTTPException):
            return error
        if isinstance(error, CotraceError):
            return _line(str(error), HTTPStatus.BAD_REQUEST)
        if _passed_ours(error.__traceback__):
            return _line(f"{request.path} failed: {tell(request.path, error)}", HTTPStatus.INTERNAL_SERVER_ERROR)
        return _line("the request makes no sense", HTTPStatus.BAD_REQUEST)


def tell(what: str, error: Exception) -> str:
    """Write to the terminal what failed, with a traceback if those are asked for; gives the reason in one line."""
    reason = excerpt(f"{type(error).__name__}: {error}")
    _LOG.error("%s failed: %s", what, reason, exc_info=error if os.environ.get("COTRACE_DEBUG") else None)
    return reason


def _line(text: str, status: HTTPStatus) -> Response:
    return Response(f"{text}\n", status, mimetype="text/plain")


def _passed_ours(traceback: TracebackType | None) -> bool:
    """Whether the fault came out of one of our callbacks; before those, Dash stumbles over requests that are none."""
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in _OURS and module != __name__:
            return True
        traceback = traceback.tb_next
    return False
