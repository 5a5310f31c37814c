"""What an experiment will take, before anything is paid: scripts play some of its games, and their prompts are counted."""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from games.experiments.plan import Experiment
from games.players.player import Observation, Player, PlayerReply, ScriptPlayer
from games.players.running import Job
from games.players.setup import SCRIPT, is_model
from providers.asker import run_to_end
from providers.prices import price_of
from schemas.game import state_of_file

_GAMES_A_TEAM: Final = 3
"""So many games of each team are played by scripts."""
_CHARACTERS_A_TOKEN: Final = 4.0
"""Of English."""


@dataclass(slots=True)
class Expected:
    """What the games of a model will take."""

    calls: float = 0.0
    """If the games go as scripts play them."""
    most_calls: float = 0.0
    """If every game lasts to its turn limit."""
    tokens_in: float = 0.0
    """Of the prompts of `calls`."""
    most_tokens_out: float = 0.0
    """If every reply of `calls` is as long as it may be."""
    cost: float | None = None
    """USD at most, of `calls`; None: no price is known."""
    most_cost: float | None = None
    """USD at most, if every game lasts to its turn limit."""


@dataclass(slots=True)
class Forecast:
    """What is left to be done, and what it will take."""

    games: int = 0
    kept: int = 0
    """Games whose whole log is there."""
    models: dict[str, Expected] = field(default_factory=dict)


def forecast(experiment: Experiment, scratch: Callable[[Path], Experiment]) -> Forecast:
    """Estimate what the games that are not there yet will take.

    Args:
        experiment: the experiment.
        scratch: gives the same experiment with another folder for its logs, where scripts can play.

    Raises:
        OSError: a log cannot be read, or no temporary file written.
    """
    left = [number for number, job in enumerate(experiment.jobs) if state_of_file(job.path, job.header) != "complete"]
    found = Forecast(games=len(left), kept=len(experiment.jobs) - len(left), models={name: Expected() for name in experiment.models})
    teams: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(list)
    for number in left:
        teams[tuple(experiment.jobs[number].taken.items())].append(number)
    with tempfile.TemporaryDirectory() as folder:
        games = scratch(Path(folder)).jobs
        for numbers in teams.values():
            chosen = random.Random(0).sample(numbers, min(_GAMES_A_TEAM, len(numbers)))
            _add([games[number] for number in chosen], len(numbers) / len(chosen), experiment, found)
    for name, expected in found.models.items():
        _price(name, expected, experiment)
    return found


def _add(games: Sequence[Job], weight: float, experiment: Experiment, found: Forecast) -> None:
    for job in games:
        counts: dict[str, Expected] = defaultdict(Expected)
        turns = run_to_end(_played(job, _players(job, experiment, counts)))
        longer = (job.header.max_turns or turns) / max(turns, 1)
        for name, counted in counts.items():
            expected = found.models[name]
            expected.calls += weight * counted.calls
            expected.most_calls += weight * counted.calls * max(longer, 1.0)
            expected.tokens_in += weight * counted.tokens_in


async def _played(job: Job, players: Mapping[str, Player]) -> int:
    return await job.play(players)


def _players(job: Job, experiment: Experiment, counts: dict[str, Expected]) -> Mapping[str, Player]:
    scripts, roles = experiment.table.scripts, experiment.table.seats
    players: dict[str, Player] = {}
    for agent, name in job.taken.items():
        known = scripts[roles[agent]]
        script = name.removeprefix(SCRIPT) if name.startswith(SCRIPT) else next(iter(known))
        player = ScriptPlayer(script, known[script])
        players[agent] = _CountingPlayer(player, counts[name]) if is_model(name) else player
    return players


class _CountingPlayer:
    """A script in place of a model: what it reads is counted as the model's."""

    def __init__(self, player: Player, counted: Expected) -> None:
        self.name = player.name
        self._player, self._counted = player, counted

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Let the script answer."""
        self._counted.calls += 1
        self._counted.tokens_in += sum(len(message["content"]) for message in seen.messages) / _CHARACTERS_A_TOKEN
        return await self._player.reply(seen, episode=episode)


def _price(name: str, expected: Expected, experiment: Experiment) -> None:
    terms = experiment.table.terms
    expected.most_tokens_out = expected.calls * terms.of(name).max_tokens
    price = price_of(terms.of(name), terms.prices)
    if price is not None:
        expected.cost = price.cost(expected.tokens_in, expected.most_tokens_out)
        expected.most_cost = expected.cost * (expected.most_calls / expected.calls if expected.calls else 1.0)
