"""Two scripted players in one game."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, cast

from games.einstein.claims import Belongs, Corner
from games.einstein.engine.actions import Action, Pass
from games.einstein.engine.modes import optimum_mode
from games.einstein.game import AGENTS, Game
from games.einstein.measures.planner import plan
from games.einstein.players.intent import Intent
from games.einstein.players.personas import PERSONAS, PLANNER
from games.einstein.players.player import ScriptedAnswer, ScriptedPlayer
from games.einstein.players.truth import truths
from games.players.onset import unmended
from games.players.player import Observation
from schemas.claims import written
from schemas.game import PlantedLabel, Turn, UtteranceEntry

CASTS: Final[Mapping[str, Collection[str]]] = {"player": PERSONAS}
"""Role -> scripts that remember."""


class ScriptedTeam:
    """Player1 and Player2. Puzzle, team and seed fix all that they say."""

    keeps_replies = False

    def __init__(self, game: Game, players: Mapping[str, str], seed: int, solution: tuple[Action, ...] | None = None) -> None:
        """The players of a game.

        Args:
            game: the game.
            players: agent -> persona.
            seed: fixes what is left to chance.
            solution: what planners follow, from the first step on; None: a shortest one.
        """
        names = [players[agent] for agent in AGENTS]
        if solution is None:
            solution = _shortest(game) if PLANNER in names else ()
        rng = random.Random(f"einstein-match:{game.puzzle.game_id}:{unmended('_'.join(names))}:{seed}")
        self._game = game
        self._players = {agent: ScriptedPlayer(players[agent], rng, plan=solution) for agent in AGENTS}
        self._answers: list[ScriptedAnswer] = []

    def answer(self, seen: Observation) -> str:
        """One of a step's answers; all of them are made when the first is asked for."""
        settings = self._game.settings
        if seen.sample == 1:
            count = 1 if settings.verifier is None else settings.samples
            player = self._players[AGENTS[seen.data.player]]
            self._answers = player.answers(seen.data, samples=count, reasoning=settings.reasoning)
        return self._answers[seen.sample - 1].text

    def known(self, turn: Turn) -> Turn:
        """The step with its labels, and the claims of its thoughts."""
        step, reasoning = self._game.steps[-1], self._game.settings.reasoning
        intent = self._answers[step.choice.executed if step.choice else 0].intent
        labels = [
            PlantedLabel(
                rubric=truth.rubric,
                question=truth.question,
                agent=AGENTS[step.before.player],
                answer=truth.answer,
                basis=truth.basis,
                planted=intent.habit,
            )
            for truth in truths(self._game.setting, step, intent, reasoning=reasoning)
        ]
        return replace(turn, utterances=[_with_claims(said, intent) for said in turn.utterances], labels=labels)


def _shortest(game: Game) -> tuple[Action, ...]:
    """A shortest solution from the first step on: Player1 passes if Player2 is to begin."""
    best = plan(game.puzzle, optimum_mode(game.settings.modes))
    return best.actions if best.first_player == 0 else (Pass(), *best.actions)


def _with_claims(said: UtteranceEntry, intent: Intent) -> UtteranceEntry:
    """What a scripted player's thoughts claim is known from its intent, whatever the wording."""
    if said.channel != "private":
        return said
    vouched = {"kind": "read", "kinds": ["belongs"]}
    claims = [written(Belongs(block=f"block{one.block}", goal=cast("Corner | None", one.goal))) for one in intent.claims]
    return replace(said, claims=[vouched, *claims])
