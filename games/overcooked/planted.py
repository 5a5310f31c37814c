"""Collab-Overcooked games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.experiments.plan import play
from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.tasks import tasks
from games.overcooked.players import scripts
from games.players.planted import PlantedGame, PlantedGames, as_asked, the_faulty_one
from games.players.running import RunReport

FAULTLESS: Final = frozenset((scripts.FAULTLESS,))

_CHEF, _ASSISTANT = AGENTS
_FAULTS: Final = {
    _CHEF: tuple(
        name for name, policy in scripts.POLICIES.items() if policy.request or policy.pauses or policy.silent or policy.breaks_format
    ),
    _ASSISTANT: tuple(name for name, policy in scripts.POLICIES.items() if policy.reply or policy.breaks_format),
}
_HORIZON: Final = 120
"""Steps: more than any fault costs."""

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team = {**dict.fromkeys(AGENTS, scripts.FAULTLESS), **case.faulty}
    order = case.rng.choice(sorted(tasks()))
    return play("overcooked", out / f"{case.place}", players=as_asked(team), task=[order], seeds=[seed + case.place], turns=_HORIZON)


play_planted: Final = PlantedGames(_FAULTS, lambda _: scripts.FAULTLESS, _played, latest=12)
"""Conversations with a fault come at their own time: a later beginning only leaves faults out."""
