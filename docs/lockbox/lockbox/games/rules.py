"""The rules: a lock of four digits; the keeper knows the first two, the opener the last two; only the opener tries codes."""

import random

__all__ = ["DIGITS", "code_of", "right_digits"]

DIGITS = 4


def code_of(seed: int) -> str:
    """The code of a lock: four digits."""
    return f"{random.Random(seed).randrange(10**DIGITS):0{DIGITS}d}"


def right_digits(code: str, tried: str) -> float:
    """Share of digits that are right and in place, 0 to 1."""
    return sum(a == b for a, b in zip(code, tried, strict=False)) / len(code)
