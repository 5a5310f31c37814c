"""What calls cost, and a budget that is not exceeded."""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from providers.completion import Tokens
from schemas.errors import UsageError

__all__ = ["Budget", "BudgetSpentError", "Price", "TokenEstimate", "price_of"]

_BUILT_IN = Path(__file__).parent / "prices.yaml"
_CHARACTERS_A_TOKEN = 3.0
"""A low guess (English has about four), used until the server's own counts are known."""


class Price(NamedTuple):
    """USD a million tokens."""

    input: float
    output: float

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """USD."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6

    def of(self, tokens: Tokens) -> float:
        """USD for tokens as billed."""
        return self.cost(tokens.input, tokens.output)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    input: float = Field(ge=0)
    output: float = Field(ge=0)


def price_of(model: str, own_file: Path | None = None) -> Price | None:
    """The price of provider/model from the user's own file, or else from the one that comes with cotrace; None if neither knows it.

    Raises:
        UsageError: a price file cannot be read or is malformed.
    """
    for path in (own_file, _BUILT_IN):
        for pattern, entry in _read(path).items() if path else ():
            if fnmatchcase(model, pattern):
                return Price(entry.input, entry.output)
    return None


def _read(path: Path) -> dict[str, _Entry]:
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
        return TypeAdapter(dict[str, _Entry]).validate_python(data or {})
    except OSError as error:
        raise UsageError(f"price file {path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"price file {path}, {where}: {first['msg']}; write provider/model: {{input: 0.15, output: 0.60}}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"price file {path} is not YAML: {' '.join(str(error).split())}") from error


class TokenEstimate:
    """Tokens of a prompt from its characters; learns the highest rate that the server has counted."""

    def __init__(self) -> None:
        self._tokens_a_character = 1 / _CHARACTERS_A_TOKEN

    def tokens(self, characters: int) -> float:
        """How many tokens a prompt of that many characters will hardly exceed."""
        return characters * self._tokens_a_character

    def learn(self, characters: int, tokens: int) -> None:
        """The server counted that many tokens for a prompt of that many characters."""
        self._tokens_a_character = max(self._tokens_a_character, tokens / max(characters, 1))


class BudgetSpentError(Exception):
    """The next request could exceed the budget, and nothing that could give money back is under way."""


class Budget:
    """Money: every request reserves the most it can cost before it is sent, and gives back what it did not use."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        """USD; None: no limit."""
        self._spent = 0.0
        self._reserved = 0.0
        self._changed = asyncio.Condition()

    async def reserve(self, cost: float) -> None:
        """Wait until that much can be spent.

        Raises:
            BudgetSpentError: it cannot, whatever comes back from the requests under way.
        """
        if self._limit is None:
            return
        async with self._changed:
            while self._spent + self._reserved + cost > self._limit:
                if self._reserved <= 0.0 or self._spent + cost > self._limit:
                    raise BudgetSpentError
                await self._changed.wait()
            self._reserved += cost

    async def settle(self, reserved: float, spent: float) -> None:
        """A request that had reserved so much has cost so much."""
        if self._limit is None:
            return
        async with self._changed:
            self._reserved = max(0.0, self._reserved - reserved)
            self._spent += spent
            self._changed.notify_all()
