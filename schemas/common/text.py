"""Text from logs and from people, made safe to show, to store and to quote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

__all__ = [
    "excerpt",
    "in_json",
    "in_markdown",
    "in_name",
    "in_shell",
    "in_sql",
    "near",
    "printable",
    "quoted",
    "replace_lone_surrogates",
    "where_option",
    "without_control",
]

_PLAIN: Final = re.compile(r"[\w.-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""Control characters, and those that change the direction of the text behind them."""
_SIGN: Final = re.compile(r"[!-/:-@\[-`{-~]")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with control, format and surrogate characters replaced, so that it cannot steer a terminal; line breaks become ⏎."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def without_control(text: str) -> str:
    """The text with control characters and changes of direction replaced, line ends and tabs kept: nothing steers a terminal or a page."""
    return _CONTROL.sub("\ufffd", text)


def in_json(written: str) -> str:
    """JSON text with its control characters and changes of direction escaped: programs read the same, and no terminal obeys it."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def in_markdown(text: str) -> str:
    """A text as it appears in Markdown: one line in which every sign is itself, so that it is no link, no HTML and no table."""
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

    Two halves that stand beside each other become the character that they are.
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
    """A path, an address or a name as it stands in a command that people copy: quoted where a shell would read it otherwise, no option."""
    import shlex
    from pathlib import PurePath

    option_like = isinstance(word, PurePath) and str(word).startswith("-")
    return shlex.quote(f"./{word}" if option_like else str(word))


def in_sql(text: str) -> str:
    """A text as it stands in SQL: in quotes, those in it doubled. Values that can be bound are bound."""
    return "'" + text.replace("'", "''") + "'"


def in_name(name: str) -> str:
    """A column's name as it stands in SQL."""
    return '"' + name.replace('"', '""') + '"'


def where_option(column: str, value: str) -> str:
    """The option `--where` for a value of a column, as it stands in a command that people copy: the value may come out of a log."""
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
