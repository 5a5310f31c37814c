"""AsymPuzl games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.asympuzl import players
from games.asympuzl.puzzle import AGENTS
from games.experiments.plan import play
from games.players.planted import Mended, OnProgress, PlantedGame, cases, played_cases, the_faulty_one
from games.players.running import RunReport

FAULTLESS: Final = frozenset((players.FAULTLESS, "rewriting"))
"""Players who tell and write all they know; one of them writes it again and again, which costs no turn."""

_SIZES: Final = (3, 4, 5, 6)

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def play_planted(out: Path, games: int, seed: int, on_progress: OnProgress | None = None, *, mended: Mended | None = None) -> RunReport:
    """Play games with one faulty player each; what is there already is not played again.

    Args:
        out: folder for the logs.
        games: how many.
        seed: fixes all of them.
        on_progress: called with the games finished and the games in all.
        mended: play the same games with the faulty player mended, throughout or in one turn.
    """
    faults = tuple(name for name in players.PERSONAS if name not in FAULTLESS)
    chosen = cases(games, seed, dict.fromkeys(AGENTS, faults), latest=2)  # a game without a fault takes two turns
    return played_cases(chosen, lambda case: _played(out, case, seed), lambda _: players.FAULTLESS, on_progress, mended)


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team: dict[str, str] = dict.fromkeys(AGENTS, players.FAULTLESS)
    team[case.seat] = case.script
    asked = [f"{agent}=script:{name}" for agent, name in team.items()]
    size = case.rng.choice(_SIZES)
    return play("asympuzl", out / f"{case.place}", players=asked, games=1, seeds=[seed + case.place], size=size)
