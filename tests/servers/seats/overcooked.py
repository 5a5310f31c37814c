"""What a script would say in the kitchen of Collab-Overcooked, out of a prompt alone."""

from __future__ import annotations

from pathlib import Path

from games.overcooked.engine.layout import AGENTS, Layout, kitchen
from games.overcooked.engine.own_kitchen import read_kitchen
from games.overcooked.players.plain import SCRIPTS
from games.overcooked.text.prompts import INPUT
from games.overcooked.text.replies import AgentInput

MARKS = {
    "Your partner speaks to you": "answer",
    "Your partner has answered": "closing",
    "Your last action was refused": "validator",
    "Your last output could not be read": "format",
    "Write down the lesson": "reflect",
}


KITCHEN = Path(__file__).with_name("kitchen.yaml")
"""A kitchen of one's own, whose tables the scripts know beside the published ones."""


def answer(messages: list[dict[str, str]]) -> str | None:
    """What the plain Chef or Assistant says to what a prompt of Collab-Overcooked holds; None for another game's."""
    text = messages[-1]["content"]
    told, found, state = text.partition(f"\n{INPUT}\n")
    if not found or "Overcooked" not in told:
        return None
    kind = next((kind for mark, kind in MARKS.items() if mark in told), "turn")
    (agent,) = (place for place, role in enumerate(AGENTS) if f"You are the {role}." in told)
    return SCRIPTS[AGENTS[agent].lower()]["plain"](AgentInput(agent, kind, state, _kitchen(state)))


def _kitchen(state: str) -> Layout:
    """The kitchen whose utensils the state text names."""
    own = read_kitchen(KITCHEN)
    return own if any(f"<{name}>" in state for name in own.utensils) else kitchen()
