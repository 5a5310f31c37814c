"""How sure a model was of what it wrote in a form: the probability of the tokens of a value."""

from __future__ import annotations

import json
import math
import re
from typing import Final

from providers.completion import Completion

__all__ = ["probability_of"]

_KEY: Final = re.compile(r'[\s,]*"([^"\\]*)"\s*:\s*')
_DECODER: Final = json.JSONDecoder(strict=False)


def probability_of(completion: Completion, name: str, key: str) -> float | None:
    """The probability, 0..1, that the model gave to the value of `key` in the object `name` of its reply, given all it had written before.

    None where no probabilities came, where their tokens do not hold the text, or where the value is not there. Some servers leave a fence
    around the text out of it and not out of the tokens. A token that reaches beyond the value counts whole.
    """
    tokens = completion.probabilities
    span = _span(completion.text, name, key)
    begins = "".join(token for token, _ in tokens).find(completion.text)
    if not tokens or span is None or begins < 0:
        return None
    total, at = 0.0, -begins
    for token, logprob in tokens:
        if at < span[1] and at + len(token) > span[0]:
            total += logprob
        at += len(token)
    return min(1.0, math.exp(total))


def _span(text: str, name: str, key: str) -> tuple[int, int] | None:
    """Where the value stands, the quotes of a text apart."""
    opened = re.search(rf'"{re.escape(name)}"\s*:\s*\{{', text)
    at = opened.end() if opened else len(text)
    while found := _KEY.match(text, at):
        try:
            value, at = _DECODER.raw_decode(text, found.end())
        except ValueError:
            return None
        if found[1] == key:
            quotes = int(isinstance(value, str))
            return found.end() + quotes, at - quotes
    return None
