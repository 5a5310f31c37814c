"""What a player says about rooms, doors, generators, the thief and the killer, and what makes it true."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.coordination import escape
from games.coordination.capture import distance
from games.coordination.players import Player
from judges.coordination.situation import capture_state, escape_state
from judges.evidence.transcript import TurnView

__all__ = ["capture_forms", "escape_forms"]

_FLAGS: Final = re.IGNORECASE
_IN: Final = r"(not )?(?:currently |now |still |located |already )*in room (\d{1,9})\b"

_SOMEBODY: Final = re.compile(rf"\b(?:the )?(Alice|Bob|thief|killer|adversary) is {_IN}", _FLAGS)
_MYSELF: Final = re.compile(rf"\b(I) (?:\((?:Alice|Bob)\) )?am {_IN}", _FLAGS)
_HUNTED: Final = re.compile(r"\b(?:to|on) the (thief|killer) in room (\d{1,9})\b", _FLAGS)
_DOOR: Final = re.compile(
    r"\bdoor (?:between )?(?:room )?([13])(?:-| and )(?:room )?([24]) is (?:currently |still |already )?(open|closed)\b", _FLAGS
)
_NO_WAY: Final = re.compile(r"\bthere is no open (?:path|way) from room (\d) to (?:the thief in )?room (\d)\b", _FLAGS)
_HEADING: Final = re.compile(r"\b(?:the )?killer is (?:heading|moving|going) (?:to|towards) room (\d{1,9})\b", _FLAGS)
_GENERATOR: Final = re.compile(
    r"\bgenerator in room (\d{1,9}) (?:has (?:already )?(not been touched|been fixed)|is (?:already |still )?(fixed|not fixed)|"
    r"(still needs work)|(?:still )?needs (?:only )?(\d|one|two|no) more (?:fix(?:es)?|repairs?))",
    _FLAGS,
)
_GATE: Final = re.compile(r"\bexit (?:gate )?is (?:currently |still |already |now )?(open|closed)\b", _FLAGS)
_NEAR: Final = re.compile(r"\broom (\d{1,9}) is next to the killer\b", _FLAGS)
_COUNTS: Final = {"no": 0, "one": 1, "two": 2}

_Form = tuple[re.Pattern[str], Callable[[re.Match[str]], bool | None]]


def _places(rooms: Mapping[str, int], player: Player) -> Sequence[_Form]:
    """Forms about where somebody is."""
    names = {name.lower(): room for name, room in rooms.items()} | {"i": rooms[player]}
    names |= {"killer": names["adversary"]} if "adversary" in names else {}

    def where(match: re.Match[str]) -> bool | None:
        room = names.get(match[1].lower())
        return None if room is None else (room == int(match[3])) != bool(match[2])

    return (
        (_SOMEBODY, where),
        (_MYSELF, where),
        (_HUNTED, lambda match: names[match[1].lower()] == int(match[2]) if match[1].lower() in names else None),
    )


def capture_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    """The forms of CollabCapture."""
    state = capture_state(turn)

    def door(match: re.Match[str]) -> bool | None:
        is_open = state.doors.get(f"{match[1]}-{match[2]}")
        return None if is_open is None else is_open == (match[3].lower() == "open")

    return (
        *_places(state.rooms, player),
        (_DOOR, door),
        (_NO_WAY, lambda match: distance(state, int(match[1]), int(match[2])) is None),
    )


def escape_forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    """The forms of CollabEscape."""
    state = escape_state(turn)

    def heading(match: re.Match[str]) -> bool | None:
        return None if state.target is None else state.rooms[state.target] == int(match[1])

    def generator(match: re.Match[str]) -> bool | None:
        counter = state.generators.get(int(match[1]))
        if counter is None:
            return None
        missing, (touched, fixed, needs, count) = max(0, escape.FIXES_NEEDED - counter), match.groups()[1:]
        if count is not None:
            return missing == _COUNTS.get(count.lower(), int(count) if count.isdecimal() else -1)
        if touched is not None:
            return counter == 0 if touched.lower().startswith("not") else missing == 0
        return missing > 0 if needs or fixed.lower().startswith("not") else missing == 0

    return (
        *_places(state.rooms, player),
        (_HEADING, heading),
        (_GENERATOR, generator),
        (_GATE, lambda match: state.gate_open == (match[1].lower() == "open")),
        (_NEAR, lambda match: int(match[1]) in escape.ROOMS[state.rooms["Adversary"]]),
    )
