"""Reads the texts that the published collab games leave behind: CollabCapture's console, CollabEscape's state file.

They are turned into the lines of the step logs and read as those are. Players' models do not stand in them. Format: docs/coordination.md.
"""

import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from games.coordination import escape
from games.coordination.players import PLAYERS, ground
from ingest.coordination.consistency import compared
from ingest.coordination.game import GameParts, game_rows
from ingest.coordination.records import CaptureStep, EscapeStep
from ingest.coordination.rooms import capture_game, escape_game
from ingest.reading.adapter_types import Place, Reading, checked, episode_id, malformed
from schemas.common.errors import BadInputError

FORMAT: Final = "coordination_console"
VERSION: Final = 6

_COLOR_CODE: Final = re.compile(r"\x1b\[[0-9;]*m")
_CAPTURE_STATE: Final = re.compile(
    r"^I (Alice|Bob) am in room (\d)\. (?:Alice|Bob) is in room (\d)\. Thief is in room (\d)\. "
    r"Door between room 1 and room 2 is (open|closed)\. Door between room 3 and room 4 is (open|closed)\.",
    re.MULTILINE,
)
_CAPTURE_ANSWER: Final = re.compile(r"^LLM Response: (.*?)^SELECTED ACTION:[ \t]*([^\n]*?)[ \t]*$", re.MULTILINE | re.DOTALL)
_CAPTURE_MOVED: Final = re.compile(r"^Alice is in Room (\d), Bob is in Room (\d), Thief is in Room (\d)\.", re.MULTILINE)
_CAPTURE_OFFERED: Final = re.compile(r"^[A-Z]\.? (Stay in current room|Move to room (\d)|Press button in room \d)", re.MULTILINE)
_CAPTURE_END: Final = re.compile(r"^Turns to Completion:\s*(\d{1,9})", re.MULTILINE)
_NEXT_CAPTURE: Final = re.compile(rf"{_CAPTURE_END.pattern}[ \t]*\s+(?=I Alice am in room \d\.)", re.MULTILINE)
_ESCAPE_ASKED: Final = re.compile(
    r"^My name is (Alice|Bob)\. I am in room (\d{1,9})\.([^\n]*)Available Actions: ([^\n]*)\n(.*?)(?=^My name is |^Current State:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_ESCAPE_TARGET: Final = re.compile(r"certainly move to the room where (Alice|Bob|I)\b")
_ESCAPE_STATE: Final = re.compile(
    r"^Current State:\s*-+\s*Alice is in room (\d{1,9})\s+Bob is in room (\d{1,9})\s+Adversary is in room (\d{1,9})\s+Generators:\s+"
    r"- room 1: (\d{1,9})/2 fixed\s+- room 6: (\d{1,9})/2 fixed\s+Exit Gate: (Open|Closed)",
    re.MULTILINE,
)
_ESCAPE_MARKS: Final = ("Current State", "Generators:", "Exit Gate")


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is the text of a collab game."""
    start = _COLOR_CODE.sub("", head[:4096].decode(errors="replace")).lstrip()
    return bool(_CAPTURE_STATE.match(start) or (start.startswith("My name is Alice. I am in room") and "Available Actions:" in start))


def resembles(head: bytes, _name: str) -> bool:  # console texts have any name
    """Tell whether a text that does not begin so is one whose beginning is damaged or cut: a whole state follows."""
    text = _COLOR_CODE.sub("", head.decode(errors="replace"))
    return _CAPTURE_STATE.search(text) is not None or _ESCAPE_STATE.search(text) is not None


def read(data: bytes, place: Place) -> Reading:
    """Read a text, which may hold many games.

    Raises:
        BadInputError: no turn in it is whole.
    """
    started = time.perf_counter()
    text = _COLOR_CODE.sub("", data.decode(errors="replace")).replace("\r\n", "\n")
    found = Reading()
    name = PurePath(place.file).stem
    captures = (_capture(part, name, found) for part in _ended(text))
    games = captures if _CAPTURE_STATE.search(text) else _escapes(text, name, found)
    for index, steps in enumerate(game for game in games if game):
        _add(found, steps, place, index)
    found.replay_s = time.perf_counter() - started
    if not found.episodes and not found.rejects:
        raise BadInputError("no whole turn: the game ended at once, or the text was cut")
    return found


def _add(found: Reading, steps: list[dict[str, Any]], place: Place, index: int) -> None:
    name = str(steps[0]["episode"])
    details = {"episode": name, "complete": bool(steps[-1]["terminal"]), "console": True}
    try:
        parts = _parts(steps)
    except ValidationError as error:
        found.rejects.append(malformed(error, name, "the game is left out"))
    except BadInputError as error:
        found.rejects.append(BadInputError(error.reason, locator=name))
    else:
        found.add(game_rows(episode_id("coordination", place.path, index), parts, place, details))


def _parts(steps: list[dict[str, Any]]) -> GameParts:
    if "scenario" in steps[0]:
        return compared(capture_game, [checked(CaptureStep, step) for step in steps])
    return compared(escape_game, [checked(EscapeStep, step) for step in steps])


def _ended(text: str) -> Iterator[str]:
    """The consoles of games that were written one behind the other, each up to its last line."""
    for begin, end in pairwise([0, *(end.end() for end in _NEXT_CAPTURE.finditer(text)), len(text)]):
        yield text[begin:end]


def _capture(text: str, name: str, found: Reading) -> list[dict[str, Any]]:
    """The whole turns; the doors after a turn are those before the next, after the last one they follow from the presses."""
    steps: list[dict[str, Any]] = []
    begin = 0
    turns = list(_CAPTURE_MOVED.finditer(text))
    for turn, moved in enumerate(turns, start=1):
        block = text[begin : moved.start()]
        begin = moved.end()
        shown = _shown(block)
        if shown is None:
            reason = f"turn {turn} has not both players' state and answer: the game ends before it, {len(turns) - turn + 1} turns are lost"
            found.rejects.append(BadInputError(reason, locator=f"turn {turn}"))
            break
        steps.append(_capture_step(name, turn, shown, moved))
    for step, following in pairwise(steps):
        step["doors_after"] = following["doors_before"]
    if steps and len(steps) == len(turns):
        rooms, caught = steps[-1]["rooms_after"], "has been caught" in text[begin:]
        met = "same_room" if rooms["Thief"] in {rooms[player] for player in PLAYERS} else "swap"
        ended = _CAPTURE_END.search(text, begin)
        steps[-1] |= {"captured": caught, "capture_kind": met if caught else None, "terminal": ended is not None}
        if ended is not None:
            steps[-1]["turns_printed"] = int(ended[1])
    if steps:
        steps[0]["scenario"] = "_".join("open" if is_open else "closed" for is_open in steps[0]["doors_before"].values())
    return [{**step, "scenario": steps[0]["scenario"]} for step in steps]


class _Shown(NamedTuple):
    """What a player of the capture was shown, and what it answered."""

    state: re.Match[str]
    offered: list[str | int]
    """The listed actions, rooms as numbers."""
    answer: str
    executed: str


def _shown(block: str) -> tuple[_Shown, _Shown] | None:
    """Both players' part of a turn; None if it is not whole."""
    states, answers = list(_CAPTURE_STATE.finditer(block)), list(_CAPTURE_ANSWER.finditer(block))
    if len(states) != len(PLAYERS) or len(answers) != len(PLAYERS):
        return None
    first, second = (
        _Shown(state, _offered(block[state.end() : answer.start()]), answer[1].strip(), _in_words(answer[2]))
        for state, answer in zip(states, answers, strict=True)
    )
    return first, second


def _in_words(action: str) -> str:
    return f"Move to room {action}" if action.isdecimal() else action


def _offered(text: str) -> list[str | int]:
    return [int(room) if room else action for action, room in _CAPTURE_OFFERED.findall(text)]


def _capture_step(name: str, turn: int, shown: tuple[_Shown, _Shown], moved: re.Match[str]) -> dict[str, Any]:
    state = shown[0].state
    doors = {"1-2": state[5] == "open", "3-4": state[6] == "open"}
    before = {"Alice": int(state[2]), "Bob": int(state[3]), "Thief": int(state[4])}
    after = dict(zip(("Alice", "Bob", "Thief"), map(int, moved.groups()), strict=True))
    pressed = [one.executed.rpartition(" ")[2] for one in shown if one.executed.startswith("Press")]
    return {
        "episode": name,
        "turn": turn,
        "rooms_before": before,
        "rooms_after": after,
        "doors_before": doors,
        "doors_after": {door: is_open ^ (pressed.count(room) % 2 == 1) for (door, is_open), room in zip(doors.items(), "98", strict=True)},
        "players": [
            {
                "player": player,
                "observation_text": one.state[0],
                "available_actions": one.offered,
                "response": one.answer,
                "executed": one.executed,
            }
            for player, one in zip(PLAYERS, shown, strict=True)
        ],
        "captured": False,
        "terminal": False,
    }


def _escapes(text: str, name: str, found: Reading) -> Iterator[list[dict[str, Any]]]:
    """Games of a state file: nothing separates them, but each begins at the start rooms with nothing repaired."""
    steps: list[dict[str, Any]] = []
    begin = 0
    for state in _ESCAPE_STATE.finditer(text):
        asked = list(_ESCAPE_ASKED.finditer(text, begin, state.end()))
        begin = state.end()
        if len(asked) != len(PLAYERS):
            if asked:
                reason = f"{len(asked)} answers before a state, where {len(PLAYERS)} belong: the turn is left out"
                found.rejects.append(BadInputError(reason, locator=f"turn {len(steps) + 1}"))
            continue
        if steps and steps[-1]["terminal"]:
            yield [{**step, "episode": f"{name} {step['episode']}".strip()} for step in steps]
            steps = []
        steps.append(_escape_step(steps, asked, state))
    if _ESCAPE_ASKED.search(text, begin) and any(mark in text[begin:] for mark in _ESCAPE_MARKS):
        reason = "the state behind the last answers cannot be read: the turn is left out"
        found.rejects.append(BadInputError(reason, locator=f"turn {len(steps) + 1}"))
    yield [{**step, "episode": f"{name} {step['episode']}".strip()} for step in steps]


def _escape_step(steps: list[dict[str, Any]], asked: list[re.Match[str]], state: re.Match[str]) -> dict[str, Any]:
    start = {
        "rooms_after": {name: f"room {room}" for name, room in escape.START.rooms.items()},
        "generators_after": {f"room {room}": 0 for room in escape.GENERATORS},
        "exit_gate_after": False,
    }
    before = steps[-1] if steps else start
    rooms = dict(zip(("Alice", "Bob", "Adversary"), (f"room {room}" for room in state.groups()[:3]), strict=True))
    fixed = state[6] == "Open"
    lost = rooms["Adversary"] in {rooms[player] for player in PLAYERS}
    won = fixed and f"room {escape.EXIT}" in {rooms[player] for player in PLAYERS}
    target = _ESCAPE_TARGET.search(asked[0][3])
    return {
        "episode": "",
        "turn": len(steps) + 1,
        "rooms_before": before["rooms_after"],
        "rooms_after": rooms,
        "generators_before": before["generators_after"],
        "generators_after": {"room 1": int(state[4]), "room 6": int(state[5])},
        "exit_gate_before": before["exit_gate_after"],
        "exit_gate_after": fixed,
        "adversary_target": None if target is None else asked[0][1] if target[1] == "I" else target[1],
        "adversary_choice": rooms["Adversary"],
        "players": [
            {
                "player": one[1],
                "observation_text": one[0].partition("\n")[0],
                "available_actions": one[4].strip().split(", "),
                "calls": [{"stage": "generator", "text": one[5].strip()}],
                "executed": ground(one[5], one[4].strip().split(", ")) or escape.WAIT,
            }
            for one in asked
        ],
        "outcome": "loss" if lost else "win" if won else "continue",
        "terminal": lost or won,
    }
