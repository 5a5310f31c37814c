"""The answers of LLM-Coordination as forms: one for each action that is listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from games.players.forms import Form, Slot
from games.players.player import Observation

_VERDICTS: Final = (
    Form("It can stay", "Verification: Okay"),
    Form("Choose again", "$why\nVerification: Not Okay", (Slot("why", "why"),)),
)


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written to what is wanted: an action, a verdict, or free text."""
    if seen.purpose == "verify":
        return _VERDICTS
    if seen.purpose == "tom":
        return (Form("Write", "$text", (Slot("text", "in your own words"),)),)
    return tuple(Form(option, f"Action: {option.replace('$', '$$')}") for option in seen.options)
