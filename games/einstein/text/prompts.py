"""What a player is told at each step, and how to read it back out of a log.

Each step has a fresh pair of messages; there is no memory besides the history lines (formats/einstein.md section 6). The wording is
cotrace's own; the order and the forms of item, bin and history lines are the published ones, so that one reader serves both.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from games.einstein.engine.actions import Action
from games.einstein.engine.bins import BINS, REACH, SHOWN_BINS, Bin, Player
from games.einstein.engine.items import Item
from games.einstein.engine.modes import ALLOWED, ActionMode
from games.einstein.engine.table import Table
from schemas.errors import BadInputError

__all__ = [
    "FAILED",
    "HistoryEntry",
    "Shown",
    "bin_contents",
    "history_line",
    "read_system_prompt",
    "read_user_prompt",
    "system_prompt",
    "user_prompt",
]

Side = Literal["bottom", "top"]

FAILED: Final = ", but failed."
_SIDES: Final[tuple[Side, Side]] = ("bottom", "top")
_FIRST: Final = "This is the first turn."
_PASSED: Final = "pass the turn"

_BIN_LINE: Final = re.compile(rf"({'|'.join(BINS)}): \[(.*)\]")
_HISTORY_LINE: Final = re.compile(r"(You|Partner): .*")
_ITEM_LINE: Final = re.compile(r"\(block.*\)")
_PLAYER: Final = re.compile(r"Player([12])\b")


class HistoryEntry(NamedTuple):
    """A step as both players are told of it."""

    player: Player
    action: Action | None
    """None for an unreadable answer, which is shown as a pass."""

    ok: bool


class Shown(NamedTuple):
    """What a user message shows, line by line."""

    player: Player
    items: tuple[str, ...]
    bins: dict[str, tuple[str, ...]]
    """Per bin the objects in it."""

    history: tuple[str, ...]


class _Paragraph(NamedTuple):
    """A piece of the system message and the modes that have it."""

    text: str
    modes: frozenset[ActionMode] = frozenset(ALLOWED)


_TELLING: Final[frozenset[ActionMode]] = frozenset({"provide_seek", "provide", "seek"})
_ASKING: Final[frozenset[ActionMode]] = frozenset({"provide_seek", "seek"})
_REPLYING: Final[frozenset[ActionMode]] = frozenset({"seek"})

_RULES: Final[tuple[_Paragraph, ...]] = (
    _Paragraph(
        "You and a partner sort numbered blocks into four corner bins, in as few turns as you can. Each of you holds part of the rules "
        "that fix where the blocks belong, and each of you reaches only some of the bins; the common bin is within reach of both. "
        "The game is over when every block lies in its bin."
    ),
    _Paragraph("In a turn you do exactly one of these:"),
    _Paragraph('- "move <block> from <bin> to <bin>": carry a block between two bins that you reach'),
    _Paragraph('- "share <knowledge>": tell your partner one of your own pieces of knowledge', _TELLING),
    _Paragraph('- "ask <block>": ask your partner for a piece of knowledge about a block', _ASKING),
    _Paragraph('- "pass": do nothing'),
    _Paragraph("You cannot initiate sharing: share only in the turn right after your partner has asked you.", _REPLYING),
    _Paragraph("Share nothing that is not in your list of knowledge.", _TELLING),
    _Paragraph("Ask only about blocks whose place you cannot work out.", _ASKING),
    _Paragraph("A turn that did not work is marked as failed in the history. Do not try the same thing again."),
    _Paragraph(f"Bins: {', '.join(BINS)}. Left, right, top and bottom mean the same for both of you."),
    _Paragraph(
        "Knowledge is written in one of these forms:\n"
        "- (<block>, in, <bin>): the block belongs into that bin\n"
        "- (<block>, <block>, same, bin): both belong into one bin\n"
        "- (<block>, <block>, same, row): same row, different columns\n"
        "- (<block>, <block>, same, column): same column, different rows\n"
        "- (<block>, <block>, same, diagonal): opposite corners"
    ),
    _Paragraph("Blocks are called block0, block1, block2 and so on."),
)

_WITH_REASONING: Final = (
    "First work out what follows from what you know, then choose. Write your thoughts and your action like this:\n"
    "<THINK>thoughts</THINK><ACTION>action</ACTION>"
)
_WITHOUT_REASONING: Final = "Write your action, and nothing else, like this:\n<ACTION>action</ACTION>"


def system_prompt(mode: ActionMode, *, reasoning: bool) -> str:
    """Give the first message of a step: the rules of the game for one action space."""
    rules = "\n".join(paragraph.text for paragraph in _RULES if mode in paragraph.modes)
    return f"{rules}\n{_WITH_REASONING if reasoning else _WITHOUT_REASONING}\n"


def user_prompt(player: Player, items: Iterable[Item], table: Table, history: Iterable[HistoryEntry], *, reasoning: bool) -> str:
    """Give the second message of a step: what this player knows, sees and remembers."""
    lines = [history_line(entry, player) for entry in history] or [_FIRST]
    question = "What do you do?" + (" Think first." if reasoning else "")
    return "\n".join(
        (
            "",
            f"You are Player{player + 1}, at the {_SIDES[player]} side of the table. You know:",
            *(item.text for item in items),
            "",
            "The blocks lie here:",
            *(f"{name}: [{', '.join(blocks)}]" for name, blocks in bin_contents(table).items()),
            "",
            "You reach these bins:",
            str(list(REACH[player])),
            "",
            "What happened so far:",
            *lines,
            "",
            question,
            "",
        )
    )


def history_line(entry: HistoryEntry, reader: Player) -> str:
    """Give a step as one player reads it. Passes and unreadable answers look the same."""
    who = "You" if entry.player == reader else "Partner"
    what = _PASSED if entry.action is None or entry.action.text == "pass" else entry.action.text
    return f"{who}: {what}{'' if entry.ok else FAILED}"


def bin_contents(table: Table) -> dict[Bin, tuple[str, ...]]:
    """Give the objects in every bin, bins in the order of the prompts, objects by number."""
    return {name: tuple(f"block{block}" for block, place in enumerate(table.positions) if place == name) for name in SHOWN_BINS}


def read_system_prompt(text: str) -> tuple[ActionMode, bool | None]:
    """Tell the action space from a system message, and whether it wants reasoning (section 6); None: it names no form of answer."""
    if '"ask <block>"' in text:
        mode: ActionMode = "seek" if "cannot initiate" in text else "provide_seek"
    else:
        mode = "provide" if '"share <knowledge>"' in text else "none"
    return mode, True if "<THINK>" in text else False if "<ACTION>" in text else None


def read_user_prompt(text: str, *, locator: str = "") -> Shown:
    """Read a user message, published or cotrace's own; ``locator`` says in errors where it stands.

    Raises:
        BadInputError: it names no player, or lacks a bin.
    """
    player = _PLAYER.search(text)
    if player is None:
        raise BadInputError("a user message must name Player1 or Player2", locator=locator, excerpt=text[:200])
    lines = text.split("\n")
    found = [match for line in lines if (match := _BIN_LINE.fullmatch(line))]
    if {match[1] for match in found} != set(BINS):
        raise BadInputError("a user message must list the objects of all seven bins", locator=locator, excerpt=text[:200])
    return Shown(
        player=0 if player[1] == "1" else 1,
        items=tuple(line for line in lines if _ITEM_LINE.fullmatch(line)),
        bins={match[1]: tuple(filter(None, match[2].split(", "))) for match in found},
        history=tuple(line for line in lines if _HISTORY_LINE.fullmatch(line)),
    )
