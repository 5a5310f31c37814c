"""Who sees a place, and what is said of other directors, by the words of `perspective.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from games.craft.claims import SeenBy, Stance, View
from games.craft.engine.board import DIRECTORS, Director
from judges.claims.reading import ReadClaim
from schemas.common.packaged import packaged_yaml

_TABLES: Final[Mapping[str, Any]] = packaged_yaml(__package__, "perspective.yaml")
_PART: Final = re.compile(r"<([a-z_]+)>")


def _expanded(fragment: str) -> str:
    return _PART.sub(lambda part: _expanded(_TABLES["parts"][part[1]]), fragment)


def _any_of(fragments: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"(?<![\w])(?:" + "|".join(map(_expanded, fragments)) + r")(?![\w])", re.IGNORECASE)


_EXCLUSIVE: Final = _any_of(_TABLES["exclusive"])
_SHARED: Final = _any_of(_TABLES["shared"])
_OWN: Final = _any_of(("my", "mine"))
_SEAT: Final = _any_of(_TABLES["seat"])
_DISAGREEMENT: Final = _any_of(_TABLES["disagreement"])
_POSSESSIVE: Final = _any_of([_TABLES["possessive"]])
_DIRECTOR: Final = {name: _any_of((rf"{name}(?:'s)?", rf"(?:director|player|agent) ?(?:#|no\.? ?)?{name[1]}")) for name in DIRECTORS}


def remarks_in(text: str) -> Iterator[tuple[int, int]]:
    """Give the stretches of a text that are about who sees a place or what another director said; seats alone are none."""
    for pattern in (_EXCLUSIVE, _SHARED, _DISAGREEMENT):
        yield from (match.span() for match in pattern.finditer(text))


def views(text: str) -> Iterator[ReadClaim[View]]:
    """Give what the text says of who sees a place; a word of somebody's seat counts only where nothing more is said."""
    kinds: tuple[tuple[SeenBy, re.Pattern[str], str | None], ...] = (
        ("speaker", _EXCLUSIVE, None),
        ("shared", _SHARED, None),
        ("seat", _OWN, None),
        ("seat", _SEAT, "it does not say whose side the place is on"),
    )
    for seen_by, pattern, doubt in kinds:
        match = pattern.search(text)
        if match is not None:
            yield ReadClaim(View(seen_by=seen_by, words=match[0]), match.start(), match.end(), doubt)
            return


def stances(text: str) -> Iterator[ReadClaim[Stance]]:
    """Give the other directors that are spoken of, apart from whose side a place is on and who sees it."""
    plain = _blanked(text, _EXCLUSIVE, _SHARED)
    disagreement = _DISAGREEMENT.search(plain)
    aside = _blanked(plain, _POSSESSIVE)
    named = [told for director in DIRECTORS for told in _stance(director, plain, aside, disagreement)]
    yield from named
    if disagreement is not None and not any(told.claim.attitude == "disputes" for told in named):
        claim = Stance(director=None, attitude="disputes", words=disagreement[0])
        yield ReadClaim(claim, disagreement.start(), disagreement.end())


def _stance(director: Director, plain: str, aside: str, disagreement: re.Match[str] | None) -> Iterator[ReadClaim[Stance]]:
    disputed = _DIRECTOR[director].search(plain) if disagreement is not None else None
    named = disputed or _DIRECTOR[director].search(aside)
    if named is None:
        return
    said = disagreement if disputed is not None and disagreement is not None else named
    yield ReadClaim(Stance(director=director, attitude="disputes" if disputed else "named", words=said[0]), said.start(), said.end())


def _blanked(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text
