"""What a page shows lives in its address, so that it can be sent to a colleague.

An address is a path and a query string; every key may occur several times: ``/failures?model=a&model=b&benchmark=craft``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode

_MOST_DIGITS = 9

GAME = "/game"
"""The page of a game, and the list of all."""

FILTERS: tuple[str, ...] = ("benchmark", "condition", "model", "level")
"""The filters every page has; each is a column of the views."""


@dataclass(frozen=True)
class Address:
    """A parsed address."""

    path: str
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Key -> values, in the order of the address; empty values left out."""

    @classmethod
    def parse(cls, path: str | None, search: str | None) -> Address:
        """Read what the browser's location holds: a proxy may serve the pages under a path of its own, and only the last part names one."""
        values = parse_qs(_whole(search or "").lstrip("?"))
        return cls(f"/{_whole(path or '').rpartition('/')[2]}", {key: tuple(found) for key, found in values.items()})

    def all(self, key: str) -> tuple[str, ...]:
        """Every value of the key; empty if it is not in the address."""
        return self.values.get(key, ())

    def one(self, key: str, default: str = "") -> str:
        """The first value of the key."""
        found = self.all(key)
        return found[0] if found else default

    def number(self, key: str, default: int) -> int:
        """The first value of the key as a whole number; the default where it is none."""
        text = self.one(key)
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else default

    def to(self, path: str | None = None, /, **changes: str | int | Sequence[str] | None) -> str:
        """The address with other values for some keys; None or empty takes a key away."""
        values: dict[str, Sequence[str]] = dict(self.values)
        for key, value in changes.items():
            if value is None or (not isinstance(value, int) and not value):
                values.pop(key, None)
            else:
                values[key] = [str(value)] if isinstance(value, str | int) else list(value)
        query = urlencode(values, doseq=True)
        return (path or self.path) + (f"?{query}" if query else "")

    def toggled(self, key: str, value: str) -> str:
        """The address with a value of the key added, or taken away where it is there; a list begins at its first page again."""
        now = self.all(key)
        return self.to(**{key: [other for other in now if other != value] if value in now else [*now, value], "from": None})

    def narrowed(self, path: str, /, **values: str | int | None) -> str:
        """Another page under the filters of this one, and these values: what is clicked keeps what it stood under."""
        return self.filters().to(path, **{key: value for key, value in values.items() if value is not None})

    def filters(self) -> Address:
        """The same page with its filters alone, without what only this page knows."""
        return Address(self.path, {key: self.values[key] for key in FILTERS if key in self.values})


def _whole(text: str) -> str:
    """The text with question marks for halves of characters, which JSON can bring and nothing can print."""
    return text.encode(errors="replace").decode()


def game_at(episode: object, turn: object) -> str:
    """The address of a turn of a game."""
    return f"{GAME}?{urlencode({'episode': episode, 'turn': turn})}"


def where(address: Address, keys: Sequence[str] = FILTERS) -> tuple[str, dict[str, object]]:
    """A SQL condition for the filters in the address, and its bound parameters; `true` where there are none."""
    chosen = {key: list(address.all(key)) for key in keys if address.all(key)}
    condition = " and ".join(f'list_contains($filter_{key}, "{key}")' for key in chosen) or "true"
    return condition, {f"filter_{key}": values for key, values in chosen.items()}
