"""Expands templates: symbols with alternatives, as data."""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

import yaml

_NAME: Final = re.compile(r"\{([\w.]+)\}")
_BLANKS: Final = re.compile(r"\s+")
_WEAK_BEFORE_MARK: Final = re.compile(r"[,\s]+([,.;:!?])")
_ARTICLE: Final = re.compile(r"\b([Aa]) (?=[aeio](?!ne\b|ne-))")
_SENTENCE_START: Final = re.compile(r"(^|[.!?] )([a-z])")


class Grammar:
    """Symbols, each with alternatives; an alternative refers to symbols and slots as ``{name}``."""

    def __init__(self, rules: Mapping[str, Sequence[str]]) -> None:
        """Cut the alternatives into texts and names: the odd pieces are names."""
        self._rules = {symbol: tuple(_NAME.split(text) for text in alternatives) for symbol, alternatives in rules.items()}

    def sentence(self, symbol: str, slots: Mapping[str, str], rng: random.Random) -> str:
        """Expand a symbol; slots go before symbols of the same name. Tidies blanks, articles and capitals.

        Raises:
            KeyError: a template names neither a slot nor a symbol.
        """
        text = _BLANKS.sub(" ", self.expand(symbol, slots, rng)).strip()
        text = _ARTICLE.sub(r"\1n ", _WEAK_BEFORE_MARK.sub(r"\1", text))
        return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)

    def expand(self, symbol: str, slots: Mapping[str, str], rng: random.Random) -> str:
        """Expand a symbol as it stands."""
        pieces = rng.choice(self._rules[symbol])
        return "".join(self._fill(piece, slots, rng) if index % 2 else piece for index, piece in enumerate(pieces))

    def _fill(self, name: str, slots: Mapping[str, str], rng: random.Random) -> str:
        value = slots.get(name)
        return self.expand(name, slots, rng) if value is None else value


@cache
def wording() -> Grammar:
    """Give the players' own wording."""
    text = resources.files(__package__).joinpath("wording.yaml").read_text(encoding="utf-8")
    return Grammar(yaml.safe_load(text))
