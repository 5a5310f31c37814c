"""Einstein games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.einstein.engine.puzzle import ACTION_MODES
from games.einstein.game import AGENTS
from games.einstein.players import personas
from games.experiments.plan import play
from games.players.planted import Mended, OnProgress, PlantedGame, cases, played_cases, the_faulty_one
from games.players.running import RunReport

FAULTLESS: Final = frozenset((personas.FAULTLESS, personas.PLANNER))

_MANY: Final = "mixed"
"""A persona of all faults: not to be told apart from any."""

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
    faults = tuple(name for name in personas.PERSONAS if name not in (*FAULTLESS, _MANY))
    chosen = cases(games, seed, dict.fromkeys(AGENTS, faults))
    return played_cases(chosen, lambda case: _played(out, case, seed), lambda _: personas.FAULTLESS, on_progress, mended)


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team = dict.fromkeys(AGENTS, personas.FAULTLESS) | {case.seat: case.script}
    players = [f"{agent}=script:{name}" for agent, name in team.items()]
    return play("einstein", out, players=players, games=1, seeds=[seed + case.place], mode=case.rng.choice(ACTION_MODES))
