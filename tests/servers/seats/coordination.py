"""What a script would say at the tables of LLM-Coordination, out of a prompt alone."""

from __future__ import annotations

import re

from games.coordination.courses.agent import ACKNOWLEDGEMENT, ScriptView
from games.coordination.courses.scripts import SCRIPTS
from games.coordination.players import PLAYERS

GAMES = {
    "Hanabi is a card game": ("hanabi", "cautious"),
    "CollabCapture": ("collab_capture", "button"),
    "CollabEscape": ("collab_escape", "fixer"),
    "the game Overcooked together": ("overcooked", "greedy"),
}
"""What the rules of a game say -> the game, and who plays it here."""


def answer(messages: list[dict[str, str]]) -> str | None:
    """What a script of the game says to what a prompt of LLM-Coordination holds; None for another game's."""
    places = [place for place, message in enumerate(messages) if message["content"] == ACKNOWLEDGEMENT]
    if not places:
        return None
    rules, text = messages[places[0] - 1]["content"], messages[places[0] + 1]["content"]
    game, script = next(known for mark, known in GAMES.items() if mark in rules)
    found = re.search(r"You are (\w+)", rules)
    assert found is not None, rules
    (player,) = (known for known in PLAYERS if known == found[1])
    purpose = "verify" if "Verification:" in text else "tom" if "read your partner's mind" in rules else "generate"
    return SCRIPTS[game][script](ScriptView(game, player, purpose, text))
