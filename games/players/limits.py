"""Limits that no call could keep: told before anything is played."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from providers.prices import price_of
from providers.provider import ModelSettings, is_at_own_server


class Contradiction(NamedTuple):
    """A limit, and what it contradicts."""

    limit: str
    message: str


def contradiction(settings: ModelSettings, max_cost: float | None, prices: Path | None) -> Contradiction | None:
    """Give what one reply of a model could exceed; None if the limits agree with how it is asked."""
    name, most = settings.model, settings.max_tokens
    if settings.tokens_per_minute is not None and settings.tokens_per_minute < most:
        return Contradiction(
            "tokens_per_minute",
            f"{settings.tokens_per_minute:g} tokens a minute contradict max_tokens {most} of {name}: one reply could exceed them; "
            "raise the one or lower the other",
        )
    if max_cost is None:
        return None
    price = price_of(settings, prices)
    if price is None and is_at_own_server(settings):
        return None
    if price is None:
        return Contradiction("max_cost", f"max_cost needs a price for {name}: give a file of prices, or no max_cost")
    dearest = price.cost(0, most)
    if dearest <= max_cost:
        return None
    return Contradiction(
        "max_cost",
        f"max_cost {max_cost:g} USD contradicts max_tokens {most} of {name}: one reply can cost {dearest:.4f} USD; "
        "raise the one or lower the other",
    )
