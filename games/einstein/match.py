"""One game between two scripted players."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from games.einstein.engine.actions import Action, Pass
from games.einstein.engine.modes import optimum_mode
from games.einstein.engine.puzzle import Puzzle
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.measures.planner import plan
from games.einstein.players.intent import Intent
from games.einstein.players.personas import PLANNER
from games.einstein.players.player import ScriptedPlayer
from games.players.onset import unmended

__all__ = ["Pair", "PlayedStep", "play_match"]


class Pair(NamedTuple):
    """Two personas: of Player1 and of Player2."""

    first: str
    second: str

    @property
    def name(self) -> str:
        """The pair as folder names spell it."""
        return f"{self.first}_{self.second}"


class PlayedStep(NamedTuple):
    """What was said in a step, and what was meant by the answer that was executed."""

    texts: tuple[str, ...]
    """All answers in sampling order."""

    intent: Intent


def play_match(game: Game, pair: Pair, *, seed: int, script: tuple[Action, ...] | None = None) -> Iterator[PlayedStep]:
    """Play a game to its end, yielding each step once it is made; the game itself holds the outcomes.

    ``script``: the solution that planners follow, from the first step on; None: a shortest one.

    Raises:
        UsageError: there is no such persona.
    """
    settings = game.settings
    rng = random.Random(f"einstein-match:{game.puzzle.game_id}:{unmended(pair.name)}:{seed}")
    if script is None:
        script = _script(game.puzzle, settings) if PLANNER in pair else ()
    players = {agent: ScriptedPlayer(persona, rng, plan=script) for agent, persona in zip(AGENTS, pair, strict=True)}
    count = 1 if settings.verifier is None else settings.samples
    while (agent := game.next_agent) is not None:
        answers = players[agent].answers(game.observe(agent), samples=count, reasoning=settings.reasoning)
        texts = tuple(answer.text for answer in answers)
        step = game.act(agent, texts)
        yield PlayedStep(texts, answers[step.choice.executed if step.choice else 0].intent)


def _script(puzzle: Puzzle, settings: GameSettings) -> tuple[Action, ...]:
    """A shortest solution from the first step on: Player1 passes if Player2 is to begin."""
    best = plan(puzzle, optimum_mode(settings.modes))
    return best.actions if best.first_player == 0 else (Pass(), *best.actions)
