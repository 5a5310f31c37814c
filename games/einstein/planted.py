"""Einstein games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.einstein.engine.puzzle import ACTION_MODES
from games.einstein.game import AGENTS
from games.einstein.players import personas
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked, the_faulty_one
from games.players.running import RunReport

FAULTLESS: Final = frozenset((personas.FAULTLESS, personas.PLANNER))

_MANY: Final = "mixed"
"""A persona of all faults: it cannot be distinguished from any."""

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team: dict[str, str] = dict.fromkeys(AGENTS, personas.FAULTLESS)
    team |= case.faulty
    return play("einstein", out, players=as_asked(team), games=1, seeds=[seed + case.place], mode=case.rng.choice(ACTION_MODES))


_FAULTS: Final = tuple(name for name in personas.PERSONAS if name not in (*FAULTLESS, _MANY))
play_planted: Final = PlantedGames(dict.fromkeys(AGENTS, _FAULTS), lambda _: personas.FAULTLESS, _played)
