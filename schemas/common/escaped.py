"""The type of text that may leave as it is. Text of others is a plain `str`, and no exit takes one.

Each exit (page, prompt, terminal) has its own kind of `Escaped`. The only way to put text of others into it escapes that text:

    Frame("turn {}, {} said:", turn, agent)

What `str` does with such a text (`+`, `join`, f-strings) gives a plain `str` again. mypy refuses that at an exit, and so does `taken`
when the program runs, where mypy sees `Any`. `tools/format_strings.py` sees that the words with the braces are the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Self

__all__ = ["Escaped"]


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
