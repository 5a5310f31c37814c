"""What a script would say at the table of Einstein Puzzles, out of a prompt alone."""

from __future__ import annotations

import re
from typing import Any

from games.einstein.engine.actions import Pass, Share, parse_answer
from games.einstein.engine.puzzle import REACH
from games.einstein.game import AGENTS, PlayerView
from games.einstein.prompts import FAILED, HistoryEntry, read_system_prompt, read_user_prompt
from games.einstein.setup import script_answer


def answer(messages: list[dict[str, str]]) -> str | None:
    """What the sensible player says to what a prompt of Einstein Puzzles holds; None for another game's."""
    text, *form = re.split(r"\n(?=Answer with .* in th(?:ese tags|is tag))", messages[-1]["content"])
    system = "\n".join([messages[0]["content"], *form])
    if "Player" not in text.split("\n")[1]:
        return None
    mode, _ = read_system_prompt(system)
    shown = read_user_prompt(text)
    places: dict[int, Any] = {int(block.removeprefix("block")): name for name, blocks in shown.bins.items() for block in blocks}
    seen = PlayerView(
        agent=AGENTS[shown.player],
        player=shown.player,
        step=len(shown.history),
        mode=mode,
        partner_mode=mode,
        num_objects=len(places),
        items=tuple(item(line) for line in shown.items),
        positions=tuple(places[block] for block in sorted(places)),
        reach=REACH[shown.player],
        history=tuple(entry(line, shown.player) for line in shown.history),
        system=system,
        user=text,
    )
    return script_answer("sensible", seen)


def item(line: str) -> Any:
    """A piece of knowledge out of its line."""
    action = parse_answer(f"<ACTION>share {line}</ACTION>").action
    assert isinstance(action, Share), line
    return action.item


def entry(line: str, reader: int) -> HistoryEntry:
    """A step out of its history line."""
    who, _, what = line.partition(": ")
    player: Any = reader if who == "You" else 1 - reader
    done = what.removesuffix(FAILED)
    action = Pass() if done == "pass the turn" else parse_answer(f"<ACTION>{done}</ACTION>").action
    return HistoryEntry(player, action, not what.endswith(FAILED))
