"""Collab-Overcooked games with exactly one faulty player."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from games.experiments.plan import play
from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.tasks import tasks
from games.overcooked.players import scripts
from games.players.planted import Mended, OnProgress, PlantedGame, cases, played_cases, the_faulty_one
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

_LATEST: Final = 12
"""Conversations with a fault come at their own time: a later beginning only leaves faults out."""

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
    chosen = cases(games, seed, _FAULTS, latest=_LATEST)
    return played_cases(chosen, lambda case: _played(out, case, seed), lambda _: scripts.FAULTLESS, on_progress, mended)


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team = dict.fromkeys(AGENTS, scripts.FAULTLESS) | {case.seat: case.script}
    players = [f"{agent}=script:{name}" for agent, name in team.items()]
    order = case.rng.choice(sorted(tasks()))
    return play("overcooked", out / f"{case.place}", players=players, task=[order], seeds=[seed + case.place], turns=_HORIZON)
