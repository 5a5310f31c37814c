"""What a cook says about the kitchen, and what makes it true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from games.coordination.kitchen import ONIONS, Item, is_cooked
from games.coordination.players import Player, partner_of
from judges.coordination.situation import cookers_of, held_of, lying_at
from judges.evidence.transcript import TurnView

__all__ = ["forms"]

_FLAGS: Final = re.IGNORECASE
_THING: Final = r"(nothing|(?:an? )?onion|(?:an? )?plate|(?:an? )?dish|(?:an? )?(?:cooked )?soup(?: (?:in|on) (?:a )?plate)?)"

_COOKER: Final = re.compile(r"\b(c\d)\.? is (?:still |already |now )?(not full|empty|full|off|on|cooking|cooked|ready)\b", _FLAGS)
_SOUP: Final = re.compile(r"\bsoup in (c\d) is (?:still |already |now )?(not cooking|not ready|cooking|cooked|ready)\b", _FLAGS)
_HOLDS_SOUP: Final = re.compile(r"\b(c\d) holds a cooked soup\b", _FLAGS)
_ONIONS: Final = re.compile(r"\b(c\d) (?:already )?(?:has|contains|holds) ([0-3]|no)(?: out of 3)? onions?\b", _FLAGS)
_NEEDS: Final = re.compile(r"\b(c\d)\.? (?:still )?needs (?:([1-3]) )?(?:more )?(?:an )?onions?\b", _FLAGS)
_HOLD: Final = re.compile(rf"\bI (?:am (?:currently )?holding|hold) {_THING}", _FLAGS)
_PARTNER_HOLDS: Final = re.compile(rf"\b(Alice|Bob) (?:is (?:currently )?holding|holds) {_THING}", _FLAGS)
_LYING: Final = re.compile(r"\b([sk]\d+) (?:is (empty)|(?:contains|holds|has) (?:an? )?(onion|plate|dish|soup))", _FLAGS)
_ALL_FULL: Final = re.compile(r"\b(?:all|both)(?: the)? cookers are full\b", _FLAGS)
_NONE_READY: Final = re.compile(r"\bno soup is (?:ready|cooked)\b", _FLAGS)
_ONE_READY: Final = re.compile(r"^(?:\w+: )?(?:a|the) soup is (?:already )?(?:cooked|ready)\b", _FLAGS)
_ONE_COOKING: Final = re.compile(r"^(?:\w+: )?(?:a|the) soup is (?:still )?cooking\b", _FLAGS)
_MORE: Final = re.compile(r"\b(?:the )?cookers? (?:still )?needs? more onions\b", _FLAGS)

_Form = tuple[re.Pattern[str], Callable[[re.Match[str]], bool | None]]


def forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    """The forms for a cook."""
    pots = {name.lower(): soup for name, soup in cookers_of(turn).items()}

    def about(truth: Callable[[Item | None, re.Match[str]], bool]) -> Callable[[re.Match[str]], bool | None]:
        """A statement about the cooker that the match names; None if there is no such cooker."""
        return lambda match: truth(pots[match[1].lower()], match) if match[1].lower() in pots else None

    def needs(soup: Item | None, match: re.Match[str]) -> bool:
        missing = ONIONS - _onions(soup)
        return missing > 0 if match[2] is None else missing == int(match[2])

    def holds(who: Player, thing: str) -> bool | None:
        held = held_of(turn)
        return None if who not in held else held[who] == _thing(thing)

    def lying(match: re.Match[str]) -> bool | None:
        found = lying_at(turn, match[1].lower())
        return None if found is None else found == ("nothing" if match[2] else _thing(match[3]))

    full = [_onions(soup) == ONIONS for soup in pots.values()]
    cooked = [is_cooked(soup) for soup in pots.values()]
    cooking = [is_full and not is_done for is_full, is_done in zip(full, cooked, strict=True)]
    return (
        (_COOKER, about(lambda soup, match: _is(soup, match[2].lower()))),
        (_SOUP, about(lambda soup, match: _is(soup, match[2].lower()))),
        (_HOLDS_SOUP, about(lambda soup, _: is_cooked(soup))),
        (_ONIONS, about(lambda soup, match: _onions(soup) == (0 if match[2].lower() == "no" else int(match[2])))),
        (_NEEDS, about(needs)),
        (_HOLD, lambda match: holds(player, match[1])),
        (_PARTNER_HOLDS, lambda match: holds(player if match[1].title() == player else partner_of(player), match[2])),
        (_LYING, lying),
        (_ALL_FULL, lambda _: all(full)),
        (_NONE_READY, lambda _: not any(cooked)),
        (_ONE_READY, lambda _: any(cooked)),
        (_ONE_COOKING, lambda _: any(cooking)),
        (_MORE, lambda _: not all(full)),
    )


def _onions(soup: Item | None) -> int:
    return 0 if soup is None else soup.onions


def _is(soup: Item | None, word: str) -> bool:
    """A cooker is on while its soup cooks, and goes off when that is done."""
    cooked, full = is_cooked(soup), _onions(soup) == ONIONS
    return {
        "empty": soup is None,
        "full": full,
        "not full": not full,
        "on": full and not cooked,
        "off": not full or cooked,
        "cooking": full and not cooked,
        "not cooking": not full or cooked,
        "cooked": cooked,
        "ready": cooked,
        "not ready": not cooked,
    }[word]


def _thing(words: str) -> str:
    """`onion`, `dish`, `soup` or `nothing`."""
    last = words.lower()
    if "soup" in last:
        return "soup"
    return "dish" if "plate" in last else last.split()[-1]
