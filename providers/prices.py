"""What calls cost, and a budget that is not exceeded."""

import asyncio
import difflib
import threading
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from providers.faults import BudgetSpentError
from providers.provider import PROVIDERS, ModelSettings, is_at_own_server
from schemas.chat.messages import Completion, Tokens
from schemas.common.errors import UsageError
from schemas.common.packages import needed
from schemas.common.yaml_lines import read_yaml

_FREE = ("ollama", "local")
"""Providers that run on one's own machine."""


_Usd: TypeAlias = Annotated[float, Field(ge=0)]


class Price(NamedTuple):
    """USD a million tokens; entries of price files have the same fields."""

    input: _Usd
    output: _Usd
    cached: _Usd | None = None
    """Of prompt tokens out of the provider's cache; None: as `input`."""
    written: _Usd | None = None
    """Of prompt tokens that are put into the provider's cache; None: as `input`."""
    reasoning: _Usd | None = None
    """Of reply tokens that are spent on reasoning; None: as `output`."""

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """USD, of tokens that are not cached and not spent on reasoning."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6

    def most(self, tokens_in: float, tokens_out: float) -> float:
        """USD, whatever of them is cached, put into a cache, or spent on reasoning."""
        dearest_in = max(self.input, self.cached or 0.0, self.written or 0.0)
        return (tokens_in * dearest_in + tokens_out * max(self.output, self.reasoning or 0.0)) / 1e6

    def of(self, tokens: Tokens) -> float:
        """USD for tokens as billed."""
        cached = min(tokens.cached, tokens.input)  # a part is never more than the whole: nothing costs less than nothing
        apart = (
            (cached, self.cached, self.input),
            (min(tokens.written, tokens.input - cached), self.written, self.input),
            (min(tokens.reasoning, tokens.output), self.reasoning, self.output),
        )
        return self.cost(tokens.input, tokens.output) + sum(n * (price - usual) for n, price, usual in apart if price is not None) / 1e6


class PriceLine(NamedTuple):
    """A price, and where it comes from."""

    price: Price
    line: str
    """In words: the file's line, or the model in the list."""
    is_guess: bool
    """Whether a pattern has matched a model that no list knows: its name may be wrong, or its price another."""


_PRICES: Final = TypeAdapter(dict[str, Price])


def price_of(settings: ModelSettings, own_file: Path | None = None) -> Price | None:
    """The price of a model at its address; None if it is not known.

    Raises:
        UsageError: a price file cannot be read or is malformed.
    """
    line = price_line(settings, own_file)
    return None if line is None else line.price


def price_line(settings: ModelSettings, own_file: Path | None = None) -> PriceLine | None:
    """The price of a model from the user's own file, or else from the list that genai-prices keeps; None if neither knows it.

    Of prices that depend on the length of a prompt it is the one of short prompts. The list says nothing of a server on this machine or in
    a private network, whatever name its model has.

    Raises:
        UsageError: a price file cannot be read or is malformed.
    """
    model, is_free = settings.model, settings.provider in _FREE
    listed = None if is_free or is_at_own_server(settings) else _listed(model)
    for pattern, price in _read(own_file).items() if own_file else ():
        if fnmatchcase(model, pattern):
            is_guess = pattern != model and listed is None and settings.provider in PROVIDERS
            return PriceLine(price, f"{own_file}: {pattern}", is_guess)
    if is_free:
        return PriceLine(Price(0.0, 0.0), "one's own machine", is_guess=False)
    return listed


def cost_of(completion: Completion, price: Price | None) -> float | None:
    """What a reply costs, in USD: as the server says it, or else its tokens at the price; None if neither is known."""
    if completion.cost is not None:
        return completion.cost
    if price is None or (any(price) and not completion.is_counted):
        return None  # uncounted tokens cost nothing only where nothing does
    return price.of(completion.tokens)


def refuse_unpriced(settings: ModelSettings, price: Price | None, max_cost: float | None) -> None:
    """See that a limit of what may be spent can be kept; None: there is no limit.

    A server of the user's own without a price is asked all the same: what it bills in its replies counts.

    Raises:
        UsageError: there is one, and the model has no price.
    """
    model = settings.model
    if max_cost is not None and price is None and not is_at_own_server(settings):
        raise UsageError(
            f"--max-cost needs a price for {model}: give one with --prices FILE (a line such as {model}: {{input: 0.15, output: 0.60}})"
        )


def similar_models(model: str) -> list[str]:
    """Models of the same provider with similar names, for a name that the list does not have."""
    provider, _, name = model.partition("/")
    known = PROVIDERS.get(provider)
    if known is None:
        return []
    from genai_prices.data_snapshot import get_snapshot

    names = [one.id for found in get_snapshot().providers if found.id == (known.prices or provider) for one in found.models]
    return [f"{provider}/{one}" for one in difflib.get_close_matches(name, names, n=3)]


@cache
def _listed(model: str) -> PriceLine | None:
    provider, _, name = model.partition("/")
    if provider == "litellm":
        return _listed(name)
    known = PROVIDERS.get(provider)
    if known is None:
        return None
    needed("genai_prices", "asking a model")
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(name, None, known.prices or provider, None)
    except LookupError:
        return None
    prices = found.get_prices(datetime.now(UTC))
    each = [getattr(prices, f"{kind}_mtok", None) for kind in ("input", "output", "cache_read", "cache_write")]
    usual, reply, *cached = (None if price is None else float(getattr(price, "base", price)) for price in each)  # that of short prompts
    if usual is None or reply is None:
        return None
    return PriceLine(Price(usual, reply, *cached), f"{provider}/{found.id} in genai-prices {version('genai-prices')}", is_guess=False)


def _read(path: Path) -> dict[str, Price]:
    try:
        return _PRICES.validate_python(read_yaml(path, "price file") or {})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"price file {path}, {where}: {first['msg']}; write provider/model: {{input: 0.15, output: 0.60}}") from error


class TokenEstimate:
    """Tokens of a prompt from its length; learns the highest rate that the server has counted.

    The length is in characters, or in bytes where a language that takes more tokens a character must not be taken for English, which has
    about four characters a token.
    """

    def __init__(self) -> None:
        self._tokens_a_character = 1 / 3
        self._characters, self._tokens = 4, 1

    def tokens(self, characters: int) -> float:
        """How many tokens a prompt of that many characters will hardly exceed."""
        return characters * self._tokens_a_character

    def learn(self, characters: int, tokens: int) -> None:
        """The server counted that many tokens for a prompt of that many characters."""
        self._tokens_a_character = max(self._tokens_a_character, tokens / max(characters, 1))
        self._characters, self._tokens = self._characters + characters, self._tokens + tokens

    def usual(self, characters: int) -> float:
        """How many tokens a prompt of that many characters has on the average."""
        return characters * self._tokens / self._characters


class Budget:
    """Money: every request reserves the most it can cost before it is sent, and gives back what it did not use.

    Several event loops can share one, each in a thread of its own.
    """

    _OTHERS_S = 0.02
    """How often a request that waits looks whether others have given money back, in seconds."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        """USD; None: no limit."""
        self._spent = 0.0
        self._reserved = 0.0
        self._one = threading.Lock()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._limit is not None

    async def reserve(self, cost: float) -> None:
        """Wait until that much can be spent.

        Raises:
            BudgetSpentError: it cannot, whatever comes back from the requests under way.
        """
        while True:
            with self._one:
                if self._limit is None or self._spent + self._reserved + cost <= self._limit:
                    self._reserved += cost
                    return
                if self._reserved <= 0.0 or self._spent + cost > self._limit:
                    raise BudgetSpentError
            await asyncio.sleep(self._OTHERS_S)

    def settle(self, reserved: float, spent: float) -> None:
        """A request that had reserved so much has cost so much."""
        with self._one:
            self._reserved = max(0.0, self._reserved - reserved)
            self._spent += spent
