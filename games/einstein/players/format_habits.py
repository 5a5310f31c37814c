"""Answers that the grammar does not read: a sensible action, written wrongly."""

import random
from collections.abc import Callable
from typing import Final

from games.einstein.players.intent import Intent
from games.einstein.players.mind import Mind
from games.einstein.players.sense import sensible

FAULTS: Final[dict[str, Callable[[str], str]]] = {
    "capitals": str.upper,
    "first_letter": str.capitalize,
    "full_stop": lambda text: f"{text}.",
    "quoted": lambda text: f'"{text}"',
    "politeness": lambda text: f"please {text}",
    "two_at_once": lambda text: f"{text}; pass",
    "semicolon": lambda text: f"{text};",
    "json": lambda text: f'{{"action": "{text}"}}',
    "list_mark": lambda text: f"- {text}",
    "empty": lambda _: "",
    "wordy_pass": lambda _: "skip this turn",
    "underscores": lambda text: text.replace(" ", "_") + "_",
    "gerund": lambda text: f"now {text}ing",
    "nested_tag": lambda text: f"<b>{text}</b>",
}
"""Name of a fault, and what it makes of an action."""


def misspell(mind: Mind, rng: random.Random) -> Intent:
    """Spoil the writing of a sensible action."""
    meant = sensible(mind, rng)
    fault = rng.choice(list(FAULTS))
    return meant._replace(habit="misspell", action=None, written=FAULTS[fault](meant.action_text))
