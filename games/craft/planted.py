"""CRAFT games with exactly one faulty player."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from games.craft.engine.board import DIRECTORS
from games.craft.players.builders import BUILDERS
from games.craft.players.directors import PERSONAS
from games.craft.players.team import FAULTLESS_BUILDER, FAULTLESS_DIRECTOR
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked, the_faulty_one
from games.players.running import RunReport

_BUILDER: Final = "Builder"
_FAULTLESS_BUILDERS: Final = (FAULTLESS_BUILDER, "literal", "clarifier")
FAULTLESS: Final = frozenset((FAULTLESS_DIRECTOR, *_FAULTLESS_BUILDERS))
"""Directors who ask for what their view shows; builders who do what they are asked to do, or ask back."""

_MANY: Final = "mixed"
"""A persona of all faults: it cannot be distinguished from any."""

_FAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    **{director: tuple(name for name in PERSONAS if name not in (*FAULTLESS, _MANY)) for director in DIRECTORS},
    _BUILDER: tuple(name for name in BUILDERS if name not in FAULTLESS),
}

fault_in = partial(the_faulty_one, faultless=FAULTLESS)
"""Agent -> script; gives the planted fault, as `games.players.planted.the_faulty_one`."""


def _faultless(case: PlantedGame) -> str:
    return FAULTLESS_BUILDER if case.agent == _BUILDER else FAULTLESS_DIRECTOR


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    builder = FAULTLESS_BUILDER if case.agent == _BUILDER else case.rng.choice(_FAULTLESS_BUILDERS)
    team: dict[str, str] = dict.fromkeys(DIRECTORS, FAULTLESS_DIRECTOR)
    team |= {_BUILDER: builder, **case.faulty}
    oracle = case.agent == _BUILDER or case.rng.random() < 1 / 2
    return play(
        "craft", out / ("listed" if oracle else "unlisted"), players=as_asked(team), games=1, seeds=[seed + case.place], oracle=oracle
    )


play_planted: Final = PlantedGames(_FAULTS, _faultless, _played)
