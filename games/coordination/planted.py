"""CollabCapture, CollabEscape and Hanabi with exactly one faulty player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from games.coordination.courses.agent import CoordinationGame
from games.coordination.courses.scripts import BEFORE_ONSET
from games.coordination.players import PLAYERS
from games.coordination.setup import VARIANTS
from games.experiments.plan import play
from games.players.planted import FaultyPlayer, PlantedGame, PlantedGames, as_asked, the_faulty_one
from games.players.running import RunReport
from schemas.common.errors import UsageError

TITLES: Final[Mapping[str, str]] = {"collab_capture": "CollabCapture", "collab_escape": "CollabEscape", "hanabi": "Hanabi"}
"""Game, as `games.level` has it -> its title; a log of the family is of one of several games."""

_FAULTS: Final[Mapping[CoordinationGame, tuple[str, ...]]] = {
    "collab_capture": ("stayer", "confused", "greedy", "random"),
    "collab_escape": ("camper", "reckless", "random"),
    "hanabi": ("bomber", "sloppy", "random"),
}
"""Game -> scripts that fall short of the best; who only names a wrong room, and goes on as the best would, costs nothing."""

FAULTLESS: Final = frozenset(BEFORE_ONSET[game] for game in _FAULTS)


def fault_in(scripts: Mapping[str, str | None]) -> FaultyPlayer | None:
    """The planted fault of a team (agent -> script, a comma, how it words things), as `games.players.planted.the_faulty_one`."""
    return the_faulty_one({agent: script and script.partition(",")[0] for agent, script in scripts.items()}, FAULTLESS)


def _game_of(case: PlantedGame) -> CoordinationGame:
    return cast("CoordinationGame", case.agent.partition(" ")[0])


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    game = _game_of(case)
    team = dict.fromkeys(PLAYERS, BEFORE_ONSET[game]) | {agent.partition(" ")[2]: script for agent, script in case.faulty.items()}
    variants = VARIANTS[game]
    chosen: dict[str, Any] = {"task": [case.rng.choice(variants)]} if variants else {}
    return play("coordination", out / f"{case.place}", players=as_asked(team), game=game, seeds=[seed + case.place], **chosen)


def _planted(faults: Mapping[CoordinationGame, Sequence[str]]) -> PlantedGames:
    agents = {f"{game} {player}": scripts for game, scripts in faults.items() for player in PLAYERS}
    return PlantedGames(agents, lambda case: BEFORE_ONSET[_game_of(case)], _played)


play_planted: Final = _planted(_FAULTS)
"""The three games by turns."""


def of_game(game: str) -> PlantedGames:
    """The same with one of the games alone.

    Raises:
        UsageError: it has no scripts to plant faults in.
    """
    found = next((known for known in _FAULTS if known == game), None)
    if found is None:
        raise UsageError(f"--planted {game}: there are {', '.join(_FAULTS)}; the kitchen has no values, so nothing could be found in it")
    return _planted({found: _FAULTS[found]})
