"""Text from logs and from people, made safe to show, to store and to quote; secrets are struck out of it.

Each exit (page, prompt, terminal) has its own kind of `Escaped`, the type of text that may be shown as it is. The only way to put foreign
text into it escapes that text:

    Frame("turn {}, {} said:", turn, agent)

What `str` does with such a text (`+`, `join`, f-strings) gives a plain `str` again. mypy refuses that at an exit, and so does `taken`
when the program runs, where mypy sees `Any`. `tools/format_strings.py` checks that the words with the braces are the program's own.

Secrets in use are every key, password and token that a request carries or that the environment holds. Servers and gateways repeat request
headers in error messages, and logs of other programs quote the settings that they ran with. So a secret is struck out where a reply
arrives, where rows go into a store, and where a line goes to a terminal.
"""

import base64
import hashlib
import os
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self

_PLAIN: Final = re.compile(r"[\w.-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""Control characters, and those that change the direction of the text behind them."""
_SIGN: Final = re.compile(r"[!-/:-@\[-`{-~]")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def text_hash(text: str) -> str:
    """As in the column `claims.text_hash`."""
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def printable(text: str) -> str:
    """The text with control, format and surrogate characters replaced, so that it cannot steer a terminal; line breaks become ⏎."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def without_control(text: str) -> str:
    """The text without control characters and changes of direction, but with line ends and tabs: nothing steers a terminal or a page."""
    return _CONTROL.sub("\ufffd", text)


def in_json(written: str) -> str:
    """JSON text with its control characters and changes of direction escaped: programs read the same, and no terminal obeys it."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def in_markdown(text: str) -> str:
    """A text as it appears in Markdown: one line in which every sign is itself, so that it is neither a link nor HTML nor a table."""
    return _SIGN.sub(r"\\\g<0>", printable(text))


def excerpt(text: str, length: int = 200) -> str:
    """The first characters, printable."""
    return printable(text[:length])


def quoted(value: object, length: int = 200) -> str:
    """A value of a file as Python writes it, from its beginning, printable."""
    try:
        return excerpt(repr(value), length)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number of thousands of digits"


def replace_lone_surrogates(value: Any) -> Any:
    """A parsed value with halves of surrogate pairs, which models write and no table takes, replaced by U+FFFD, in keys too.

    Two halves that stand next to each other become the character that they are.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF_PAIR.search(value) else value
    if isinstance(value, dict):
        return {replace_lone_surrogates(key): replace_lone_surrogates(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [replace_lone_surrogates(entry) for entry in value]
    return value


def _shown(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    return "�" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else character


def in_shell(word: object) -> str:
    """A path, an address or a name as it is in a command that people copy: quoted where a shell would read it otherwise, no option."""
    import shlex
    from pathlib import PurePath

    option_like = isinstance(word, PurePath) and str(word).startswith("-")
    return shlex.quote(f"./{word}" if option_like else str(word))


def in_sql(text: str) -> str:
    """A text as it is in SQL: in quotes, those in it doubled. Values that can be bound are bound."""
    return "'" + text.replace("'", "''") + "'"


def in_name(name: str) -> str:
    """A column's name as it is in SQL."""
    return '"' + name.replace('"', '""') + '"'


def where_option(column: str, value: str) -> str:
    """The option `--where` for a value of a column, as it is in a command that people copy: the value may come out of a log."""
    condition = f"{column} = {in_sql(value)}"
    return "--where " + (f'"{condition}"' if _PLAIN.fullmatch(value) else in_shell(condition))


def near(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`: did you mean ...?`, or what to say otherwise: by itself, all that is known."""
    import difflib

    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f": did you mean {close[0]}?"
    return ": " + (otherwise or f"there are {', '.join(names) or 'none'}")


class Escaped(str):
    """Own words with texts of others in them, each escaped for one exit."""

    __slots__ = ()

    def __new__(cls, form: str = "", *values: object, **named: object) -> Self:
        """Fill in a form.

        Args:
            form: own words, a literal or a constant, with braces as in `str.format`.
            values: what is put into the braces, escaped unless it is of this kind already.
            named: the same by name.
        """
        return cls.own(form.format(*map(cls._safe, values), **{name: cls._safe(value) for name, value in named.items()}))

    @classmethod
    def own(cls, words: str) -> Self:
        """The program's own words, or those of a file that gives orders to it, such as a rubric: nothing is escaped."""
        return str.__new__(cls, words)

    @classmethod
    def joined(cls, between: str, parts: Iterable[object]) -> Self:
        """The parts, each escaped, with own words between them."""
        return cls.own(between.join(map(cls._safe, parts)))

    @classmethod
    def escape(cls, text: str) -> str:
        """The text as this exit can take it."""
        raise NotImplementedError

    @classmethod
    def taken(cls, text: Self) -> Self:
        """The text, if it is of this kind: for what writes to the exit.

        Raises:
            TypeError: it is any other text.
        """
        if not isinstance(text, cls):
            raise TypeError(f"text that is not escaped: {cls.__name__} was asked for, {type(text).__name__} was given")
        return text

    def replaced(self, pattern: re.Pattern[str], by: Callable[[re.Match[str]], object]) -> Self:
        """The text with other values in place of what the pattern finds; they are escaped."""
        return self.own(pattern.sub(lambda found: self._safe(by(found)), self))

    @classmethod
    def _safe(cls, value: object) -> str:
        return value if isinstance(value, cls) else cls.escape(str(value))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).own, (str(self),)


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
    signs = max(_PLAIN_SIGNS.findall(part), key=len, default="")
    return (
        (_only_letters(signs.encode()), *(sign.encode() for sign in wholly)),
        re.compile(b"(?i:%b)" % (_GAP.join(map(_written, part)) + b"|" + part.encode().hex().encode()) + _REST),
    )


_PLAIN_SIGNS: Final = re.compile(r"[\w.-]+", re.ASCII)
"""What is mostly written as it is."""
_LINE_END: Final = re.compile(rb"\\{1,16}[nrt]")
_GAP: Final = rb"(?:\s|\\{1,16}[nrt]|\xe2\x80\x8b|\x00){0,40}?"
"""What lines are broken with."""
_REST: Final = rb"(?:[\w\-.~+/=%*]|\\{1,16}(?:u[0-9a-fA-F]{4}|/))*"
_NAMED: Final = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


def _written(sign: str) -> bytes:
    """A pattern of all ways in which addresses, pages and JSON write a character, one within the other included."""
    raw, code = sign.encode(), ord(sign)
    escaped = re.escape(raw) if _PLAIN_SIGNS.fullmatch(sign) else rb"\\{0,16}" + re.escape(raw)
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
