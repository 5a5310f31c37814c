"""Ordinary words: those that say nothing of any block or place, so that a clause made of them is understood as talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

import yaml

__all__ = ["is_ordinary", "kind_of"]

_SHORTEST = 3
"""Letters that an ending must leave over."""

_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", "e"), ("ing", ""), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""), ("d", ""), ("ly", ""),
            ("er", ""), ("er", "e"), ("est", ""), ("n", ""))  # fmt: skip


@cache
def kind_of(word: str) -> str:
    """Give the list that a lower-case word stands in: ``talk``, ``denial``, ``quantity``, ``vague``, ``particle``; empty if in none.

    For talk the word without its ending counts, too.
    """
    exact = next((kind for kind in ("denial", "quantity", "vague", "particle") if word in _words()[kind]), "")
    return exact or ("talk" if any(form in _words()["talk"] for form in _forms(word)) else "")


def is_ordinary(word: str) -> bool:
    """Whether a word says nothing of any block or place."""
    return kind_of(word) == "talk"


def _forms(word: str) -> Iterator[str]:
    yield word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            stem = word[: -len(ending)]
            yield stem + instead
            if stem[-1] == stem[-2]:
                yield stem[:-1]


@cache
def _words() -> Mapping[str, frozenset[str]]:
    folder = resources.files(__package__)
    kinds = yaml.safe_load(folder.joinpath("ordinary.yaml").read_text(encoding="utf-8"))
    kinds["talk"] += " " + folder.joinpath("english.txt").read_text(encoding="utf-8")
    return {kind: frozenset(words.split()) for kind, words in kinds.items()}
