"""A scripted player at the table: remembers what it saw, decides, speaks."""

import random
from typing import NamedTuple

from games.einstein.engine.actions import Action
from games.einstein.engine.bins import DESTINATIONS, Bin
from games.einstein.game import PlayerView
from games.einstein.players.intent import Intent
from games.einstein.players.mind import Mind
from games.einstein.players.personas import FAULTLESS, PERSONAS, PLANNER
from games.einstein.players.speech import raw_answer
from games.einstein.players.traces import traced
from games.players.onset import onset_of


class ScriptedAnswer(NamedTuple):
    """An answer, and what its author meant by it."""

    text: str
    intent: Intent


class ScriptedPlayer:
    """One player of one game."""

    def __init__(self, persona: str, rng: random.Random, *, plan: tuple[Action, ...] = ()) -> None:
        """A player. ``plan``: the actions of the game from its first step on, for the persona that follows one.

        Raises:
            UsageError: there is no such persona.
        """
        self._onset = onset_of(persona, PERSONAS, "einstein persona")
        self.persona = persona
        self._rng = rng
        self._plan = plan if persona == PLANNER else ()
        self._placed: dict[int, Bin] = {}

    def answers(self, seen: PlayerView, *, samples: int, reasoning: bool) -> list[ScriptedAnswer]:
        """Give ``samples`` answers, each decided anew."""
        self._placed |= {block: place for block, place in enumerate(seen.positions) if place in DESTINATIONS}
        mind = Mind(seen, dict(self._placed))
        return [self._answer(mind, reasoning=reasoning) for _ in range(samples)]

    def _answer(self, mind: Mind, *, reasoning: bool) -> ScriptedAnswer:
        intent = self._planned(mind) or PERSONAS[self._onset.at(mind.seen.step + 1, FAULTLESS)].decide(mind, self._rng)
        return ScriptedAnswer(raw_answer(intent, self._rng, reasoning=reasoning), intent)

    def _planned(self, mind: Mind) -> Intent | None:
        seen = mind.seen
        done = tuple(entry.action for entry in seen.history)
        if seen.step >= len(self._plan) or done != self._plan[: seen.step]:
            return None
        return traced(mind, self._plan[seen.step], self._rng)
