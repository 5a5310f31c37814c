"""What can go wrong with a request, whoever the provider is, and how long to wait after it."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from traceback import walk_tb
from typing import Any, Final

import orjson
from tenacity import RetryCallState, wait_random_exponential

from schemas.chat.messages import ErrorCameError, UnreadableError
from schemas.common.errors import CotraceError
from schemas.common.packages import packaged_yaml
from schemas.common.text import excerpt, strike

_WORDS: Final[Mapping[str, Any]] = packaged_yaml(__package__, "refusals.yaml")
_STATUSES: Final[Mapping[str, list[int]]] = _WORDS["statuses"]
_SIGNS: Final = {name: re.compile("|".join(signs), re.IGNORECASE) for name, signs in _WORDS["signs"].items()}
_FIXES: Final = tuple((re.compile(one["sign"], re.IGNORECASE), one["fix"]) for one in _WORDS["fixes"])
_FAILURES: Final = range(400, 600)
_LONGEST_REASON: Final = 500


class HopelessError(CotraceError):
    """No request of this run can succeed: the run stops with this message; what was answered is stored."""


class RefusedError(Exception):
    """The model declined to answer; asking again would not help."""


class BudgetSpentError(Exception):
    """The next request could exceed the budget, and nothing that could give money back is under way."""


class Unusable(Exception):  # noqa: N818 - it is not an error of the run: the model is asked again
    """A reply came that is not an answer."""


class Fault(Exception):  # noqa: N818 - see Unusable
    """No reply came; it may come on another try."""

    def __init__(
        self, reason: str, *, status: int | None = None, retry_after_s: float | None = None, again: bool = True, came: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        """HTTP status; None if the connection failed."""
        self.retry_after_s = retry_after_s
        """How long the server asks to wait, in seconds; None if it does not ask."""
        self.again = again
        """Whether another try makes sense."""
        self.came = came or status is not None
        """Whether the server was reached."""
        self.limited = status == HTTPStatus.TOO_MANY_REQUESTS
        """The server is well and wants fewer requests: too many came, it loads its model, or its queue is full."""
        self.counted = False
        """Whether `providers.pacing.Gate` has counted it."""


class NoServer(Fault):
    """No server listens at the address, or no host has such a name: a second try a moment later finds the same."""


class TimedOut(Fault):
    """No complete reply came in time; a server that works on few calls at once may not have started this one."""

    @classmethod
    def after(cls, timeout_s: float) -> TimedOut:
        """So many seconds."""
        return cls(f"no complete reply within {timeout_s:g} s: raise --timeout, or lower --concurrency or --max-tokens")


class NodeLost(Fault):
    """The machine that sent the request was lost; the server may be well, and another machine sends the request again at once."""


class TooLarge(Fault):
    """This one prompt is longer than the server ever takes, however long one waits; others may fit."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason, status=status, again=False, came=True)
        self.limited = False


_CLIENTS: Final = frozenset({"aiohttp", "anthropic", "botocore", "aiobotocore", "google", "httpx", "litellm", "mistralai", "openai"})
"""Packages whose errors may come from what a server sends."""


def behind(error: BaseException) -> BaseException:
    """The cause of an error of instructor or of a client: one of these classes, or the fault that it amounts to; else the error."""
    while type(error).__name__ == "InstructorRetryException" and error.__cause__ is not None:
        error = error.__cause__
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, Fault | CotraceError | RefusedError | Unusable | BudgetSpentError):
            return found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    if isinstance(error, UnreadableError):
        return of_error(error.error) if isinstance(error, ErrorCameError) else Fault(str(error), came=True)
    if isinstance(error, ValueError | RecursionError) or (isinstance(error, ODD_TYPES) and _module(error) in _CLIENTS):
        reason = f"the reply is not a chat completion ({excerpt(strike(str(error)), _LONGEST_REASON)})"
        return Fault(reason, came=True)
    return classify(error) if type(error).__module__.partition(".")[0] in _CLIENTS else error


ODD_TYPES: Final = (AttributeError, LookupError, TypeError, ValueError)
"""What reading a reply raises whose parts are of other types than its protocol has."""


def _module(error: BaseException) -> str:
    """The package whose code raised the error."""
    names = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
    return names[-1].partition(".")[0] if names else ""


def refused_field(reason: str) -> str | None:
    """The field of a request that a server refuses, by its message; None if it names none.

    A form can be asked for in other ways, so there the first mention is enough; the other fields change answers, and are left out only
    where the server does not take them at all.
    """
    signs = {name: rf"\b{name}\b" for name in _WORDS["fields"]} | _WORDS["forms"]
    named = [(found.start(), name) for name, sign in signs.items() if (found := re.search(sign, reason, re.IGNORECASE))]
    first = min(named)[1] if named else None
    return first if first in _WORDS["forms"] or first == "tool_choice" or _SIGNS["unknown"].search(reason) else None


def classify(error: BaseException) -> Fault | HopelessError:
    """The fault behind an exception of a provider's client, by what all of them have: a status, a response with headers."""
    response = getattr(error, "response", None)
    reason = f"{type(error).__name__}: {excerpt(strike(str(error)), _LONGEST_REASON)}"
    values = (getattr(source, name, None) for source in (error, response) for name in ("status_code", "code", "status"))
    status = next((value for value in values if isinstance(value, int) and value >= _FAILURES.start), None)
    if status is None:
        return Fault(reason, came=isinstance(error, ValueError | RecursionError))  # a body that is not JSON, or too deep
    headers = {str(name).lower(): str(value) for name, value in (getattr(response, "headers", None) or {}).items()}
    return _of_status(status, headers, reason, str(error))


def of_response(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault behind a reply with an HTTP status of failure; headers by names in small letters.

    Raises:
        HopelessError: no request of this run can succeed.
    """
    text = body.decode("utf-8", "replace")
    found = _of_status(status, headers, excerpt(_message(_error_in(text)), _LONGEST_REASON), text)
    if isinstance(found, HopelessError):
        raise found
    return found


def of_error(error: Any) -> Fault | HopelessError:
    """The fault behind an error that came in place of a reply, with HTTP's status of success; gateways put the status into it."""
    reason = excerpt(_message(error), _LONGEST_REASON)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and code in _FAILURES:
        return _of_status(code, {}, reason, orjson.dumps(error).decode())
    if _is_too_large(HTTPStatus.BAD_REQUEST, error):
        return TooLarge(f"an error in place of a reply: {reason} ({_WORDS['too_large']})")
    return Fault(f"an error in place of a reply: {reason}", came=True)


def _error_in(body: str) -> Any:
    """The error in a body: an object, or else a text."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    return content.get("error", content) if isinstance(content, dict) else content


def _message(error: Any) -> str:
    """The message in an error, or else its text."""
    return str(error.get("message", error) if isinstance(error, dict) else error)


def _of_status(status: int, headers: Mapping[str, str], reason: str, text: str) -> Fault | HopelessError:
    if status in _WORDS["hopeless"] and not (status == HTTPStatus.FORBIDDEN and any(sign in text for sign in _WORDS["flagged"])):
        return HopelessError(
            f"{_WORDS['hopeless'][status]} (HTTP {status}): check --model, --base-url and the key's environment variable; {reason}"
        )
    if any(sign in text for sign in _WORDS["no_key"]):
        return HopelessError(f"{_WORDS['hopeless'][401]} (HTTP {status}): check the key's environment variable; {reason}")
    if status == HTTPStatus.PAYMENT_REQUIRED or any(sign in text for sign in _WORDS["no_money"]):
        return HopelessError(f"the account has no money left (HTTP {status}): top it up, then start the same command again; {reason}")
    error = _error_in(text)
    if _is_too_large(status, error):
        fix = _WORDS["larger_than_a_minute"] if _is_larger_than_a_minute(status, error) else _WORDS["too_large"]
        return TooLarge(f"HTTP {status}, {reason} ({fix})", status)
    refuses = status == HTTPStatus.NOT_IMPLEMENTED or (_SIGNS["unknown"].search(reason) is not None and refused_field(reason) is not None)
    again = status in _STATUSES["again"] or (
        status >= HTTPStatus.INTERNAL_SERVER_ERROR and not (status in _STATUSES["may_refuse_a_field"] and refuses)
    )
    named = _SIGNS["delay"].search(text)
    asked = float(named[1]) if named else retry_after_s(headers)
    fault = Fault(f"HTTP {status}, {reason}{_fix(status, error)}", status=status, retry_after_s=asked, again=again)
    fault.limited = fault.limited or (status == HTTPStatus.SERVICE_UNAVAILABLE and _SIGNS["busy"].search(text) is not None)
    return fault


def _is_too_large(status: int, error: Any) -> bool:
    """Whether a refusal is about the length of the prompt alone, however often it is sent."""
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _is_larger_than_a_minute(status, error):
        return True
    words = " ".join(str(error.get(name) or "") for name in ("code", "type")) if isinstance(error, dict) else ""
    return status in _STATUSES["may_be_too_large"] and _SIGNS["too_large"].search(f"{words} {_message(error)}") is not None


def _is_larger_than_a_minute(status: int, error: Any) -> bool:
    """Whether one request alone is larger than the account's limit a minute."""
    if status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}:
        return False
    limit, requested = _SIGNS["limit"].search(_message(error)), _SIGNS["requested"].search(_message(error))
    if limit and requested:
        return int(requested[1].replace(",", "")) > int(limit[1].replace(",", ""))
    return _SIGNS["larger_than_a_minute"].search(_message(error)) is not None


def _fix(status: int, error: Any) -> str:
    """What to do about a request that the model does not take; empty if that is not known."""
    if status not in _STATUSES["bad_request"]:
        return ""
    param = error.get("param") if isinstance(error, dict) else None
    about = param if isinstance(param, str) and any(sign.search(param) for sign, _ in _FIXES) else _message(error)
    return next((f" ({fix})" for sign, fix in _FIXES if sign.search(about)), "")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date; None if it does not say."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            if email.utils.parsedate_tz(value) is None:
                return None
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        return seconds if 0.0 <= seconds < float("inf") else None
    return None


_exponential = wait_random_exponential(multiplier=0.5, max=30.0)


def wait_after(state: RetryCallState) -> float:
    """Seconds until the next try: what the server asked for, or else exponentially longer; after 429 the shared gate does the waiting."""
    raised = state.outcome.exception() if state.outcome else None
    error = None if raised is None else behind(raised)
    if isinstance(error, Unusable | NodeLost) or (isinstance(error, Fault) and error.limited):
        return 0.0
    asked = error.retry_after_s if isinstance(error, Fault) else None
    return asked if asked is not None else _exponential(state)
