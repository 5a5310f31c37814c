"""Secrets in use: every key, password and token that a request carries, struck out of whatever a server sends back.

Servers and gateways repeat request headers in error messages. What they send is stored, printed and shown on pages, so a secret is
struck out where the reply arrives, before anything reads it.
"""

from __future__ import annotations

import base64
import re
from typing import Final

__all__ = ["strike", "strike_bytes", "use_secret"]

STRUCK: Final = "[secret removed]"
_SHORTEST: Final = 8
"""Characters of a secret. A shorter one, such as `none` or `EMPTY`, is a placeholder: it would be struck out of ordinary words."""
_FORMS: Final[dict[str, tuple[tuple[bytes, re.Pattern[bytes]], ...]]] = {}
"""Secret -> what a text that repeats it contains, and what is then replaced."""


def use_secret(secret: str | None) -> str | None:
    """Remember a secret that requests of this process carry, and return it; a placeholder or None is not remembered."""
    if secret is not None and len(secret) >= _SHORTEST and secret not in _FORMS:
        _FORMS[secret] = tuple(_forms(secret))
    return secret


def strike(text: str) -> str:
    """The text without the secrets in use: as they are, cut off, percent-encoded, escaped as in JSON, or in base64."""
    raw = text.encode("utf-8", "surrogatepass")
    struck = strike_bytes(raw)
    return text if struck is raw else struck.decode("utf-8", "surrogatepass")


def strike_bytes(body: bytes) -> bytes:
    """The same for the bytes of a reply; JSON stays JSON. Without a secret in it, it is the same object."""
    for forms in tuple(_FORMS.values()):
        for sign, form in forms:
            if sign in body:
                body = form.sub(STRUCK.encode(), body)
    return body


def _forms(secret: str) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """What is fast to search for, and the pattern that is replaced where it was found."""
    start = secret[: max(_SHORTEST, len(secret) // 2)]  # servers cut what they repeat: half of it is a secret too
    plain = max(_PLAIN.findall(start), key=len, default="").encode()
    found = [(plain, re.compile(b"".join(map(_written, start)) + _REST))]
    raw = secret.encode()
    whole = [raw.hex().encode()]
    for before in range(3):  # base64 of a text that holds it: three bytes make four letters, so there are three ways to begin
        letters = base64.b64encode(bytes(before) + raw)[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        whole += [letters, letters.translate(bytes.maketrans(b"+/", b"-_"))]
    return [*found, *((form, re.compile(re.escape(form))) for form in whole)]


_PLAIN: Final = re.compile(r"[\w.-]+", re.ASCII)
"""What no encoding writes otherwise."""
_REST: Final = rb"(?:[\w\-.~+/=%*]|\\+(?:u[0-9a-fA-F]{4}|/))*"


def _written(sign: str) -> bytes:
    """A pattern of all ways in which addresses and JSON write a character, JSON within JSON included."""
    if _PLAIN.fullmatch(sign):
        return re.escape(sign).encode()
    percent = b"".join(b"%%%02x" % byte for byte in sign.encode())
    return rb"(?:\\*%b|(?i:%b)|\\+u(?i:%04x))" % (re.escape(sign.encode()), percent, ord(sign))
