"""Text from logs and from people, made safe to show, to store and to quote; and the type of text that may be shown as it is.

Each exit (page, prompt, terminal) has its own kind of `Escaped`. The only way to put foreign text into it escapes that text:

    Frame("turn {}, {} said:", turn, agent)

What `str` does with such a text (`+`, `join`, f-strings) gives a plain `str` again. mypy refuses that at an exit, and so does `taken`
when the program runs, where mypy sees `Any`. `tools/format_strings.py` checks that the words with the braces are the program's own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Final, Self

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
