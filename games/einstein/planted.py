"""Einstein games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.einstein.engine.modes import ACTION_MODES
from games.einstein.game import AGENTS, GameSettings
from games.einstein.play import PlayRequest, play
from games.einstein.players import personas
from games.players.planted import Mended, PlantedGame, cases, played_cases, the_faulty_one
from games.playing import OnProgress, PlayReport

__all__ = ["FAULTLESS", "fault_in", "play_planted"]

FAULTLESS: Final = frozenset((personas.FAULTLESS, personas.PLANNER))

_MANY: Final = "mixed"
"""A persona of all faults: not to be told apart from any."""

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def play_planted(out: Path, games: int, seed: int, on_progress: OnProgress | None = None, *, mended: Mended | None = None) -> PlayReport:
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
    return played_cases(chosen, lambda case: play(_request(out, case, seed)), lambda _: personas.FAULTLESS, on_progress, mended)


def _request(out: Path, case: PlantedGame, seed: int) -> PlayRequest:
    team = dict.fromkeys(AGENTS, personas.FAULTLESS) | {case.seat: case.script}
    mode = case.rng.choice(ACTION_MODES)
    return PlayRequest(
        out=out,
        personas=(team[AGENTS[0]],),
        partners=(team[AGENTS[1]],),
        games=1,
        seed=seed + case.place,
        conditions=(GameSettings(modes=(mode, mode)),),
    )
