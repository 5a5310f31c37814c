"""What a player receives at each step, and how to read it back out of a log.

Each step has a fresh pair of messages; there is no memory but the history lines (formats/einstein.md section 6). The wording, in
prompts.yaml, is cotrace's own; the order and the forms of item, bin and history lines are the published ones: one reader serves both.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from games.einstein.engine.actions import Action, Share
from games.einstein.engine.puzzle import BINS, REACH, ActionMode, Item, Player
from games.einstein.engine.table import Table, bin_contents
from games.players.player import texts_of
from schemas.chat.messages import Message
from schemas.common.errors import BadInputError

Side = Literal["bottom", "top"]
Style = Literal["bare", "reasoning", "guidance"]
"""How the question at the end is put."""


FAILED: Final = ", but failed."
_SIDES: Final[tuple[Side, Side]] = ("bottom", "top")
_FIRST: Final = "This is the first turn."
_PASSED: Final = "pass the turn"
_UNREADABLE: Final = {
    "You": "failed, because the form of your answer was wrong: write one action between <ACTION> and </ACTION>, as shown at the end",
    "Partner": "failed, because the form of its answer was wrong",
}

_ASKS: Final = re.compile(r'"ask <block>"|^- ask: ', re.MULTILINE)
_SHARES: Final = re.compile(r'"share <knowledge>"|^- share: ', re.MULTILINE)
_BIN_LINE: Final = re.compile(rf"({'|'.join(BINS)}): \[(.*)\]")
_HISTORY_LINE: Final = re.compile(r"(You|Partner): .*")
_ITEM_LINE: Final = re.compile(r"\(block.*\)")
_PLAYER: Final = re.compile(r"Player([12])\b")


class HistoryEntry(NamedTuple):
    """A step as both players read of it."""

    player: Player
    action: Action | None
    """None for an unreadable answer."""
    ok: bool


class PromptLines(NamedTuple):
    """What a user message shows, line by line."""

    player: Player
    items: tuple[str, ...]
    bins: dict[str, tuple[str, ...]]
    """Per bin the objects in it."""
    history: tuple[str, ...]


def system_prompt(mode: ActionMode, *, reasoning: bool, guidance: bool = False) -> str:
    """Give the first message of a step as published: the rules of the game for one action space, and the form of the answer.

    ``guidance``: with what the published prompt adds for GPT-4o.
    """
    rules = _rules(mode, "text", reasoning=reasoning, guidance=guidance)
    return "\n".join([*rules, texts_of(__package__)["form"]["published"]["reasoning" if reasoning else "bare"], ""])


def form_last(user: str, mode: ActionMode, *, style: Style) -> list[Message]:
    """Give both messages as players get them: examples name no block of the game, and the form of the answer comes last."""
    reasoning = style != "bare"
    rules = _rules(mode, "sane", reasoning=reasoning, guidance=style == "guidance")
    form = texts_of(__package__)["form"]["sane"]["reasoning" if reasoning else "bare"]
    return [{"role": "system", "content": "\n".join(rules)}, {"role": "user", "content": f"{user}\n{form}"}]


def _rules(mode: ActionMode, wording: str, *, reasoning: bool, guidance: bool) -> list[str]:
    texts = texts_of(__package__)
    parts = [*texts["rules"], *(texts["guidance"] if guidance else ()), *(texts["thoughts"] if reasoning else ())]
    shown = [part.get(wording, part["text"]) for part in parts if mode in part.get("modes", (mode,))]
    return [text.replace("{bins}", ", ".join(BINS)) for text in shown]


def user_prompt(player: Player, items: Iterable[Item], table: Table, history: Iterable[str], *, style: Style) -> str:
    """Give the second message of a step: what this player knows, sees and remembers; ``history``: lines of `history_line`."""
    lines = [*history] or [_FIRST]
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
            texts_of(__package__)["question"][style],
            "",
        )
    )


def history_line(entry: HistoryEntry, reader: Player, *, clear: bool) -> str:
    """Give a step as one player reads it.

    Args:
        entry: the step.
        reader: who reads it.
        clear: report that an answer could not be read, and hide what a failed share holds. As published, an unreadable answer
            looks like a pass, and a failed share gives its item away.
    """
    who = "You" if entry.player == reader else "Partner"
    if clear and entry.action is None:
        return f"{who}: {_UNREADABLE[who]}"
    if clear and who == "Partner" and isinstance(entry.action, Share) and not entry.ok:
        return f"{who}: share{FAILED}"
    what = _PASSED if entry.action is None or entry.action.text == "pass" else entry.action.text
    return f"{who}: {what}{'' if entry.ok else FAILED}"


def read_system_prompt(text: str) -> tuple[ActionMode, bool | None]:
    """Tell the action space from a system message, and whether it wants reasoning (section 6); None: it names no form of answer."""
    if _ASKS.search(text):
        mode: ActionMode = "seek" if "cannot initiate" in text else "provide_seek"
    else:
        mode = "provide" if _SHARES.search(text) else "none"
    return mode, True if "<THINK>" in text else False if "<ACTION>" in text else None


def read_user_prompt(text: str, *, locator: str = "") -> PromptLines:
    """Read a user message, published or cotrace's own; ``locator`` names in errors where it is.

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
    return PromptLines(
        player=0 if player[1] == "1" else 1,
        items=tuple(line for line in lines if _ITEM_LINE.fullmatch(line)),
        bins={match[1]: tuple(filter(None, match[2].split(", "))) for match in found},
        history=tuple(line for line in lines if _HISTORY_LINE.fullmatch(line)),
    )
