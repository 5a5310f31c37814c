"""What can go wrong with a request, whoever the provider is, and how long to wait after it."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from typing import Any

import orjson
from tenacity import RetryCallState, wait_random_exponential

from schemas.errors import CotraceError
from schemas.secrets import strike
from schemas.text import excerpt

__all__ = [
    "DamagedError",
    "Fault",
    "ForeignRedirectError",
    "HopelessError",
    "NobodyThere",
    "NodeLost",
    "OversizeError",
    "RefusedError",
    "Unusable",
    "beyond_bounds",
    "classify",
    "of_error",
    "of_response",
    "retry_after_s",
    "wait_after",
]

LIMITED = 429
_HOPELESS = {
    401: "the server refuses the API key",
    403: "the key has no access",
    404: "the model or address does not exist",
    407: "the proxy wants a name and a password",
}
_WORTH_RETRYING = frozenset({408, 409, 425, 429})
_SERVER_ERROR = 500
_FAILURES = range(400, 600)
_BAD_REQUEST = 400
_LONGEST_REASON = 500
_NO_KEY = ("API_KEY_INVALID", "API key not valid")
"""How Google says with status 400 that the key is wrong."""
_NO_MONEY_LEFT = 402
_NO_MONEY = ("insufficient_quota", "credit balance is too low", "billing_not_active")
_FORBIDDEN = 403
_FLAGGED = ("moderation", "flagged")
"""How gateways say with status 403 that they do not let this prompt through; others may pass."""
_NAMED_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
"""How Google says in the body how long to wait."""
_MENDS = {
    "temperature": "the model may take no temperature: --temperature none",
    "max_tokens": "the model may give no reply of that length: --max-tokens",
    "max_completion_tokens": "the model may give no reply of that length: --max-tokens",
    "tool": "the model may know no tools: --mode json_schema or --mode json",
    "response_format": "the server may know no schemas: --mode tools or --mode json",
    "reasoning": "the model may not reason: leave out --reasoning-effort",
    "support stream": "the server only streams, which is not read: ask through one that gives whole replies",
    "stream must be": "the server only streams, which is not read: ask through one that gives whole replies",
}
"""What a refused request speaks of -> what may mend it."""


class HopelessError(CotraceError):
    """No request of this run can succeed: the run stops with this message; what was answered is kept."""


class RefusedError(Exception):
    """The model declined to answer; asking again would not help."""


class Unusable(Exception):  # noqa: N818 - it is not an error of the run: the model is asked again
    """A reply came, but not the answers that were asked for."""

    def __init__(self, reason: str, reply: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.reply = reply


class OversizeError(Exception):
    """A reply is larger than any that was asked for can be, or packed so that it cannot be told."""


class DamagedError(ValueError):
    """A reply was damaged on its way."""


class ForeignRedirectError(Exception):
    """A server sends the request, with its key and what was asked, on to another one."""


class Fault(Exception):  # noqa: N818 - see Unusable
    """No reply came; it may come on another try."""

    def __init__(self, reason: str, *, status: int | None, retry_after_s: float | None, again: bool, came: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        """HTTP status; None if the connection failed."""
        self.retry_after_s = retry_after_s
        """How long the server asks to wait, in seconds; None if it does not say."""
        self.again = again
        """Whether another try makes sense."""
        self.came = came or status is not None
        """Whether the server was reached."""

    @property
    def limited(self) -> bool:
        """The server wants fewer requests."""
        return self.status == LIMITED


class NobodyThere(Fault):
    """Nobody listens at the address, or no host has such a name: a second try a moment later finds the same."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, status=None, retry_after_s=None, again=True)


class NodeLost(Fault):
    """The machine that sent the request was lost, which says nothing of the server: another one sends it again."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, status=None, retry_after_s=0.0, again=True)


def classify(error: BaseException) -> Fault:
    """The fault behind an exception of a provider's client, told by what all of them have: a status, a response with headers.

    Raises:
        HopelessError: no request of this run can succeed.
    """
    beyond = beyond_bounds(error)
    if isinstance(beyond, ForeignRedirectError):
        raise HopelessError(f"{beyond}; keys and texts of logs go to no server that was not named: give its address with --base-url")
    if beyond is not None:
        return Fault(str(beyond), status=None, retry_after_s=None, again=False, came=True)
    status = _status(error)
    reason = f"{type(error).__name__}: {excerpt(strike(str(error)), _LONGEST_REASON)}"
    if status is None:
        came = isinstance(error, ValueError | RecursionError)  # a body that is no JSON, or too deep
        return Fault(reason, status=None, retry_after_s=None, again=True, came=came)
    return _of_status(status, _headers(error), reason, str(error))


def of_response(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault behind a reply with an HTTP status of failure; headers by names in small letters.

    Raises:
        HopelessError: no request of this run can succeed.
    """
    text = body.decode("utf-8", "replace")
    return _of_status(status, headers, excerpt(_said(text), _LONGEST_REASON), text)


def of_error(error: Any) -> Fault:
    """The fault behind an error that came in place of a reply, with HTTP's status of success; gateways put the status into it.

    Raises:
        HopelessError: no request of this run can succeed.
    """
    reason = excerpt(_message(error), _LONGEST_REASON)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and code in _FAILURES:
        return _of_status(code, {}, reason, orjson.dumps(error).decode())
    return Fault(f"an error in place of a reply: {reason}", status=None, retry_after_s=None, again=True, came=True)


def _said(body: str) -> str:
    """What the server says went wrong: the message in its JSON, or else the text."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    return _message(content.get("error", content) if isinstance(content, dict) else content)


def _message(error: Any) -> str:
    return str(error.get("message", error) if isinstance(error, dict) else error)


def _of_status(status: int, headers: Mapping[str, str], reason: str, text: str) -> Fault:
    if status in _HOPELESS and not (status == _FORBIDDEN and any(sign in text for sign in _FLAGGED)):
        raise HopelessError(f"{_HOPELESS[status]} (HTTP {status}): check --model, --base-url and the key's environment variable; {reason}")
    if any(sign in text for sign in _NO_KEY):
        raise HopelessError(f"{_HOPELESS[401]} (HTTP {status}): check the key's environment variable; {reason}")
    if status == _NO_MONEY_LEFT or any(sign in text for sign in _NO_MONEY):
        raise HopelessError(f"the account has no money left (HTTP {status}): top it up, then start the same command again; {reason}")
    again = status in _WORTH_RETRYING or status >= _SERVER_ERROR
    named = _NAMED_DELAY.search(text)
    asked = float(named[1]) if named else retry_after_s(headers)
    return Fault(f"HTTP {status}, {reason}{_mend(status, text)}", status=status, retry_after_s=asked, again=again)


def _mend(status: int, text: str) -> str:
    """What to do about a request that the model does not take."""
    if status != _BAD_REQUEST:
        return ""
    return next((f" ({mend})" for sign, mend in _MENDS.items() if sign in text.lower()), "")


def beyond_bounds(error: BaseException | None) -> BaseException | None:
    """The error of `providers.wire.bounds` that the clients have wrapped into their own; None if there is none."""
    while error is not None and not isinstance(error, OversizeError | ForeignRedirectError):
        error = error.__cause__ or error.__context__
    return error


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date; None if it does not say."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            date = email.utils.parsedate_to_datetime(value) if _is_date(value) else None
            seconds = date.timestamp() - time.time() if date else -1.0
        if 0.0 <= seconds < float("inf"):
            return seconds
        return 0.0 if _is_date(value) else None
    return None


def _is_date(value: str) -> bool:
    return email.utils.parsedate_tz(value) is not None


_exponential = wait_random_exponential(multiplier=0.5, max=30.0)


def wait_after(state: RetryCallState) -> float:
    """Seconds until the next try: what the server asked for, or else exponentially longer; after 429 the shared gate does the waiting."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Fault) and error.limited:
        return 0.0
    asked = error.retry_after_s if isinstance(error, Fault) else None
    return asked if asked is not None else _exponential(state)


def _status(error: BaseException) -> int | None:
    for source in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            value = getattr(source, name, None)
            if isinstance(value, int) and value >= 400:  # noqa: PLR2004 - where HTTP errors begin
                return value
    return None


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return {str(k).lower(): str(v) for k, v in headers.items()} if headers else {}
