"""What a text asks for and what it says is there: the reader's claims with the frame they are checked in."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from games.craft.engine.blocks import COLORS, SIZES, WALLS, Director
from judges.craft.checks.vocabulary import names_other_side, speaks_of_removal
from judges.craft.language import Claim

__all__ = ["Request", "compatible", "mentions_of", "requests_of", "same_place"]

_ACTIONS: Final = frozenset({"place", "remove", "replace"})
_QUOTE_LIMIT: Final = 160
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One claim of a text. A field that the text does not settle is None, cells then are empty."""

    verb: str | None
    color: str | None
    size: str | None
    cells: tuple[str, ...]
    """One cell, or the cells of a large block; cells of several small blocks in one claim."""
    stated: bool
    """Whether the cells stand in the text; otherwise they were worked out from the board ("the red one")."""
    layer: int | None
    old_color: str | None
    quote: str
    """The words it was read from."""

    @property
    def block(self) -> str | None:
        """Block code; None unless colour and size are both known."""
        return None if self.color is None or self.size is None else self.color + self.size

    @property
    def complete(self) -> bool:
        """Whether action, colour, size, cell (both of a large block) and layer are all said."""
        return self.stated and self.verb in ("place", "remove") and self.block is not None and self.layer is not None and self.one_block

    @property
    def one_block(self) -> bool:
        """Whether the cells fit one block of the size named."""
        return len(self.cells) == (2 if self.size == "l" else 1)

    def on_wall(self, director: Director) -> bool:
        """Whether it names cells, all of them on that director's wall."""
        return bool(self.cells) and all(cell in WALLS[director] for cell in self.cells)

    def __str__(self) -> str:
        size = SIZES[self.size] if self.size else ""
        color = COLORS[self.color] if self.color else ""
        block = " ".join(word for word in (size, color) if word) or "some block"
        cells = "+".join(self.cells) or "an unnamed cell"
        layer = f"layer {self.layer}" if self.layer is not None else "no layer"
        return f'{self.verb or "place or remove"} {block} at {cells}, {layer} ("{self.quote}")'


def requests_of(claims: Sequence[Claim], text: str, speaker: Director) -> tuple[Request, ...]:
    """Give what is asked for, in text order; a claim that only repeats parts of another is dropped.

    Two readings are taken back to unknown, because a slip there turns an answer round: a placement in a sentence that speaks of
    taking away while nothing else does, and cells of the speaker's wall in a sentence about another director's side.
    """
    removing = any(claim.verb in ("remove", "replace") for claim in claims)
    found = []
    for claim in claims:
        if claim.verb not in _ACTIONS:
            continue
        request, rest = _request(claim, text), _rest_of_sentence(text, claim.start)
        if claim.verb == "place" and not removing and speaks_of_removal(rest):
            request = replace(request, verb=None)
        if request.on_wall(speaker) and any(_is_strange(request, name, rest) for name in WALLS if name != speaker):
            request = replace(request, cells=(), stated=False)
        found.append(request)
    return tuple(request for index, request in enumerate(found) if not _is_echo(request, index, found))


def mentions_of(claims: Iterable[Claim], text: str, requests: Iterable[Request]) -> tuple[Request, ...]:
    """Give what is said about blocks without asking for anything: confirmed, kept, observed.

    A remark without a place that fits a request speaks of that request and is left out.
    """
    said = [_request(claim, text) for claim in claims if claim.verb in ("confirm", "keep", "other")]
    asked = tuple(requests)
    return tuple(m for m in said if m.cells or not any(compatible(m, r, ignoring=("verb",)) for r in asked))


def compatible(one: Request, other: Request, *, ignoring: Sequence[str] = ()) -> bool:
    """Tell whether no attribute known of both differs; cells are compatible if one set holds the other."""
    pairs: Mapping[str, bool] = {
        "verb": None in (one.verb, other.verb) or one.verb == other.verb,
        "color": None in (one.color, other.color) or one.color == other.color,
        "size": None in (one.size, other.size) or one.size == other.size,
        "layer": None in (one.layer, other.layer) or one.layer == other.layer,
        "cells": not one.cells or not other.cells or set(one.cells) <= set(other.cells) or set(other.cells) <= set(one.cells),
    }
    return all(agrees for name, agrees in pairs.items() if name not in ignoring)


def same_place(one: Request, other: Request) -> bool:
    """Tell whether two requests are about a common cell, and about the same layer as far as named."""
    layers = None in (one.layer, other.layer) or one.layer == other.layer
    return layers and not set(one.cells).isdisjoint(other.cells)


def _request(claim: Claim, text: str) -> Request:
    return Request(
        verb=claim.verb,
        color=claim.color,
        size=claim.size,
        cells=tuple(claim.cells or ()),
        stated=bool(claim.cells) and claim.origins.get("cells") != "resolved",
        layer=claim.layer,
        old_color=claim.old.color if claim.old else None,
        quote=_quote(text[claim.start : claim.end]),
    )


def _is_strange(request: Request, other: Director, rest: str) -> bool:
    return names_other_side(rest, other) and not set(request.cells) <= set(WALLS[other])


def _rest_of_sentence(text: str, start: int) -> str:
    return _SENTENCE_END.split(text[start:], maxsplit=1)[0]


def _is_echo(request: Request, index: int, found: Sequence[Request]) -> bool:
    for other_index, other in enumerate(found):
        if other_index == index or not compatible(request, other) or _known(request) > _known(other):
            continue
        if _known(request) < _known(other) or other_index < index:
            return True
    return False


def _known(request: Request) -> int:
    parts = (request.color, request.size, request.layer)
    return sum(part is not None for part in parts) + len(request.cells)


def _quote(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _QUOTE_LIMIT else flat[: _QUOTE_LIMIT - 1] + "…"
