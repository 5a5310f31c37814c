"""What browsers send may be anything: requests that make no sense are answered with 400, faults of ours with 500, each with one line."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from flask import Flask, Response, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, validate_call
from werkzeug.exceptions import BadRequest, HTTPException

from schemas.errors import CotraceError, UsageError
from schemas.text import excerpt

__all__ = ["Click", "answer_faults", "checked", "saved", "taken_back", "tell"]

P = ParamSpec("P")
R = TypeVar("R")

_LOG: Final = logging.getLogger(__name__)
_STAYS: Final = "What you gave stays on this page: save it again after that"
_KEPT: Final = "The note is there as before: take it back again after that"
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
    return _why_not(remove, "Not taken back", _KEPT)


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
