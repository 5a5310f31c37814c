"""Words by which a sentence is told to do something, out of a reading's YAML file."""

from __future__ import annotations

import re


def any_of(words: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, which stand between bars, as whole words in any case."""
    phrases = (re.escape(" ".join(phrase.split())) for phrase in words.split("|"))
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)
