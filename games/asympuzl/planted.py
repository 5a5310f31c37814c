"""AsymPuzl games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.asympuzl import players
from games.asympuzl.puzzle import AGENTS
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked, the_faulty_one
from games.players.running import RunReport

FAULTLESS: Final = frozenset((players.FAULTLESS, "rewriting"))
"""Players who tell and write all they know; one of them writes it again and again, which costs no turn."""

_SIZES: Final = (3, 4, 5, 6)

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team: dict[str, str] = dict.fromkeys(AGENTS, players.FAULTLESS)
    team |= case.faulty
    size = case.rng.choice(_SIZES)
    return play("asympuzl", out / f"{case.place}", players=as_asked(team), games=1, seeds=[seed + case.place], size=size)


_FAULTS: Final = tuple(name for name in players.PERSONAS if name not in FAULTLESS)
play_planted: Final = PlantedGames(dict.fromkeys(AGENTS, _FAULTS), lambda _: players.FAULTLESS, _played, latest=2)
"""A game without a fault takes two turns."""
