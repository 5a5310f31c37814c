"""Secrets in use: every key, password and token that a request carries or that the environment holds, struck out of texts of others.

Servers and gateways repeat request headers in error messages, and logs of other programs quote the settings that they ran with. What they
say is stored, printed and shown on pages. So a secret is struck out where a reply arrives, where rows go into a store, and where a line
goes to a terminal.
"""

from __future__ import annotations

import base64
import os
import re
import string
from collections.abc import Sequence
from typing import Final

STRUCK: Final = "[secret removed]"
_SHORTEST: Final = 8
"""Characters of a secret. A shorter one may be a placeholder, such as `none`: it is struck out only where a server calls it a key."""
_SHORTEST_CALLED_A_KEY: Final = 4
_LONGEST: Final = 40
"""Characters by which a secret is found; what follows them goes too."""
_SHORTEST_OF_ENVIRONMENT: Final = 16
"""Characters of a secret that is known by its variable's name alone: shorter ones may be words."""
_NAMES_A_SECRET: Final = re.compile(r"(?:^|_)(?:API_?KEY|ACCESS_KEY|SECRET|TOKEN|PASSWORD)(?:_|$)", re.IGNORECASE)
_OF_DASHBOARD: Final = "COTRACE_TOKEN"
_IS_NO_SECRET: Final = re.compile(r"\s|^[/.~]")
"""In the value of such a variable: a sentence, or a path to where the secret lies."""
_LETTERS: Final = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_NO_LETTERS: Final = bytes(set(range(256)) - set((string.ascii_letters + string.digits).encode()))
_FORMS: Final[dict[str, tuple[tuple[tuple[bytes, ...], re.Pattern[bytes]], ...]]] = {}
"""Secret -> what the letters of a text that repeats it contain one of, and what is then replaced."""


def use_secret(secret: str | None) -> str | None:
    """Remember a secret that requests of this process carry, and return it; None, or a few letters, are not remembered."""
    if secret and len(secret) >= _SHORTEST_CALLED_A_KEY and secret not in _FORMS:
        _FORMS[secret] = tuple(_forms(secret) if len(secret) >= _SHORTEST else [_short(secret)])
    return secret


def use_secrets_of_environment() -> None:
    """Remember what environment variables hold whose names say that it is a key, a password or a token.

    But not the dashboard's own token (`COTRACE_TOKEN`): the link that is printed has it.
    """
    for name, value in os.environ.items():
        if name == _OF_DASHBOARD:
            continue
        if _NAMES_A_SECRET.search(name) and len(secret := value.strip()) >= _SHORTEST_OF_ENVIRONMENT and not _IS_NO_SECRET.search(secret):
            use_secret(secret)


def without_secrets(values: Sequence[object]) -> Sequence[object]:
    """A column's texts, or lists of texts, without the secrets in use; the same object where none has the first half of one."""
    if not _FORMS:
        return values
    texts = "\0".join({text for value in values for text in (value if isinstance(value, list) else (value,)) if isinstance(text, str)})
    if not any(secret[: _half(secret)] in texts for secret in tuple(_FORMS) if len(secret) >= _SHORTEST):
        return values
    return [_struck(value) for value in values]


def _struck(value: object) -> object:
    return strike(value) if isinstance(value, str) else [_struck(entry) for entry in value] if isinstance(value, list) else value


def strike(text: str) -> str:
    """The text without the secrets in use: as they are, cut off, over several lines, encoded (addresses, JSON, HTML, hex) or in base64."""
    raw = text.encode("utf-8", "surrogatepass")
    struck = strike_bytes(raw)
    return text if struck is raw else struck.decode("utf-8", "surrogatepass")


def strike_bytes(body: bytes) -> bytes:
    """The same for the bytes of a reply; JSON stays JSON. Without a secret in it, it is the same object."""
    if not _FORMS:
        return body
    letters = _only_letters(body)
    if b"\\" in body:
        letters += _only_letters(_LINE_END.sub(b"", body))
    for forms in tuple(_FORMS.values()):
        for signs, form in forms:
            if any(sign in letters for sign in signs):
                body = form.sub(STRUCK.encode(), body)
    return body


def _only_letters(text: bytes) -> bytes:
    """Letters and digits, small: what is left of a text however its lines are broken and its signs are encoded."""
    return text.translate(_LETTERS, _NO_LETTERS)


def _half(secret: str) -> int:
    """Characters by which a secret is known: servers cut what they repeat, so half of it is a secret too."""
    return min(max(_SHORTEST, len(secret) // 2), _LONGEST)


def _short(secret: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    raw = re.escape(secret.encode())
    return (_only_letters(secret.encode()),), re.compile(rb"(?i:\b(?:bearer|api[ _-]?key)\W{1,12})" + raw + rb"(?!\w)")


def _forms(secret: str) -> list[tuple[tuple[bytes, ...], re.Pattern[bytes]]]:
    """What is fast to search for, and the pattern that is replaced where it was found."""
    half = _half(secret)
    found = [_plain(secret[:half]), _plain(secret[-half:])]
    raw = secret.encode()[:_LONGEST]
    for before in range(3):  # base64 of a text that holds it: three bytes make four letters, so there are three ways to begin
        letters = base64.b64encode(bytes(before) + raw)[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        for written in {letters, letters.translate(bytes.maketrans(b"+/", b"-_"))}:
            signs = re.compile(_GAP.join(re.escape(bytes([letter])) for letter in written) + _REST)
            found.append(((_only_letters(written),), signs))
    return found


def _plain(part: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    codes = [ord(sign) for sign in part]
    wholly = (
        part.encode().hex(),
        *("".join(map(form.format, codes)) for form in ("u{:04x}", "{}", "x{:x}")),
        part.encode("utf-16-le").hex(),
    )
    signs = max(_PLAIN.findall(part), key=len, default="")
    return (
        (_only_letters(signs.encode()), *(sign.encode() for sign in wholly)),
        re.compile(b"(?i:%b)" % (_GAP.join(map(_written, part)) + b"|" + part.encode().hex().encode()) + _REST),
    )


_PLAIN: Final = re.compile(r"[\w.-]+", re.ASCII)
"""What is mostly written as it is."""
_LINE_END: Final = re.compile(rb"\\{1,16}[nrt]")
_GAP: Final = rb"(?:\s|\\{1,16}[nrt]|\xe2\x80\x8b|\x00){0,40}?"
"""What lines are broken with."""
_REST: Final = rb"(?:[\w\-.~+/=%*]|\\{1,16}(?:u[0-9a-fA-F]{4}|/))*"
_NAMED: Final = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


def _written(sign: str) -> bytes:
    """A pattern of all ways in which addresses, pages and JSON write a character, one within the other included."""
    raw, code = sign.encode(), ord(sign)
    escaped = re.escape(raw) if _PLAIN.fullmatch(sign) else rb"\\{0,16}" + re.escape(raw)
    ways = [
        escaped,
        b"".join(rb"%%(?:25)*%02x" % byte for byte in raw),
        b"".join(rb"\\{1,16}x%02x" % byte for byte in raw),
        rb"\\{1,16}u%04x" % code,
        rb"&(?:amp;)*#(?:0*%d|x0*%x);" % (code, code),
    ]
    if sign in _NAMED:
        ways.append(rb"&(?:amp;)*%b;" % _NAMED[sign].encode())
    if sign == " ":
        ways.append(rb"\+")
    return rb"(?:" + b"|".join(ways) + rb")"
