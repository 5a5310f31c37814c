"""Running a search for a better prompt, as `cotrace optimize` and `cotrace optimize-reader` do: what is told of it, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cotrace.options.shared import say

if TYPE_CHECKING:
    from analytics.statistics.intervals import Estimate

Found = TypeVar("Found")


def searched(title: str, calls: int, search: Callable[[Callable[[int], None]], Found]) -> Found | None:
    """What the search finds, under a progress bar; None where the budget ends it, which is told.

    Args:
        title: of the bar.
        calls: the most calls the search can make.
        search: gets what is to be told how many calls are done.
    """
    from cotrace.progress import progress_bar
    from judges.optimization.dispatcher import BudgetStopError

    try:
        with progress_bar(title) as show:
            return search(lambda asked: show(asked, calls))
    except BudgetStopError as stop:
        say(f"{stop}; what was answered is kept: start again with a higher --max-cost to go on, nothing is paid twice")
        return None


def upper_cost(cost: float | None) -> str:
    """The most a search costs, in words."""
    return "no price known" if cost is None else f"at most about {cost:.4f} USD"


def in_figures(number: Estimate | None) -> str:
    """A value with its 95 % interval."""
    return "not defined" if number is None else f"{number.value:.3f} ({number.low:.3f} to {number.high:.3f})"
