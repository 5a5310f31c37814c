"""What searches for a better rubric and for a better reader's prompt share: their terms, what they may cost, how they ask and choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from judges.optimization.dispatcher import Conditions, Dispatcher, Halted, Manner, Priced, dispatching
from judges.optimization.optimizers import OPTIMIZERS, Calls, Sizes
from providers.asker import Usage
from providers.faults import HopelessError
from providers.messages import Message
from providers.prices import Price, TokenEstimate, price_of, refuse_unpriced
from providers.provider import ModelSettings
from schemas.errors import UsageError

LONGER_INSTRUCTIONS: Final = 4_000
"""Characters by which proposed instructions are taken to be longer than those there are."""
_FEWEST_CANDIDATES: Final = 2
_MOST_FAILED: Final = 0.2
"""Share of the calls."""

OnCall = Callable[[int], None]
"""Told after each call how many there were that had not been answered before."""

PromptT = TypeVar("PromptT")
CaseT = TypeVar("CaseT")
ToldT = TypeVar("ToldT")


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchTerms:
    """How a search goes about it, whatever it looks for."""

    optimizer: str
    """A key of `OPTIMIZERS`."""
    asked: ModelSettings
    """The model that is to answer better."""
    writer: ModelSettings
    """The model that writes instructions; not used by all optimisers."""
    candidates: int
    demonstrations: int
    seed: int
    cache: Path
    """File or folder of answers by content: what is in it is not paid again."""
    max_cost: float | None = None
    """USD that this run may spend; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own, looked at before the built-in one."""
    concurrency: int = 16
    """Calls under way at once."""

    def sizes(self, training: Sequence[object], validation: Sequence[object]) -> Sizes:
        """How much there is to work with."""
        return Sizes(len(training), len(validation), self.candidates, self.demonstrations)

    def priced(self) -> tuple[Price | None, Price | None]:
        """What the asked model costs, and the writer; the same where no instructions are written.

        Raises:
            UsageError: a price file is malformed.
        """
        asked = price_of(self.asked, self.prices)
        return asked, price_of(self.writer, self.prices) if OPTIMIZERS[self.optimizer].writes else asked


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEstimate:
    """The most that a run asks, if no call has to be repeated and nothing is on disk."""

    calls: Calls
    tokens_in: int
    tokens_out: int
    cost: float | None
    """USD; None if a model has no price."""
    example: list[Message]
    """The first prompt in full."""


class CallLengths(NamedTuple):
    """How long calls are at most."""

    read: float
    """Characters that the asked model reads."""
    written_from: float
    """Characters that the writer reads."""
    answer: int
    """Tokens of an answer of the asked model."""


def estimate(terms: SearchTerms, calls: Calls, lengths: CallLengths, example: list[Message]) -> SearchEstimate:
    """What so many calls come to; ``example``: the first prompt.

    Raises:
        UsageError: a price file is malformed.
    """
    tokens = TokenEstimate()
    asked_in, writer_in = tokens.tokens(round(calls.judge * lengths.read)), tokens.tokens(round(calls.writer * lengths.written_from))
    asked_out, writer_out = calls.judge * lengths.answer, calls.writer * terms.writer.limit
    asked, writer = terms.priced()
    return SearchEstimate(
        calls=calls,
        tokens_in=round(asked_in + writer_in),
        tokens_out=asked_out + writer_out,
        cost=asked.cost(asked_in, asked_out) + writer.cost(writer_in, writer_out) if asked and writer else None,
        example=example,
    )


@contextmanager
def opened(
    terms: SearchTerms, manner: Manner[PromptT, CaseT, ToldT], on_call: OnCall | None
) -> Iterator[Dispatcher[PromptT, CaseT, ToldT]]:
    """What asks the model, under the terms.

    Raises:
        BudgetStopError: the budget is spent; start again with a higher one.
        HopelessError: no request can succeed, or too many do not.
        StoreError: the file of answers cannot be used.
        UsageError: a budget without prices, too few candidates, or a model that cannot be reached as it is named.
    """
    if terms.candidates < _FEWEST_CANDIDATES:
        raise UsageError(f"--candidates {terms.candidates}: try at least {_FEWEST_CANDIDATES}")
    asked, writer = (Priced(*pair) for pair in zip((terms.asked, terms.writer), terms.priced(), strict=True))
    for one in (asked, writer):
        refuse_unpriced(one.settings, one.price, terms.max_cost)
    try:
        with dispatching(manner, asked, writer, Conditions(terms.cache, terms.max_cost, terms.concurrency, on_call)) as dispatcher:
            yield dispatcher
    except Halted as halted:
        raise halted.why from None


def refuse_silence(usage: Usage, asked: int, who: str, what: str) -> None:
    """Where calls fail, agreement measures the server: no search could mend that.

    Raises:
        HopelessError: too many of the first calls, on which the start is measured, came to nothing.
    """
    if usage.failed > _MOST_FAILED * asked:
        raise HopelessError(
            f"the {who} gave no usable answer to {usage.failed} of {asked} {what}; first failure: {usage.first_error}; "
            "mend that, then start the same command again"
        )


def best_of(scores: Mapping[str, float]) -> str:
    """The best by hash; of equals the first: what there is comes before all others."""
    return max(scores, key=lambda found: scores[found])
