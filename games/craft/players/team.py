"""A team of scripted players in one game."""

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from games.craft.engine.blocks import DIRECTORS, Director
from games.craft.game import Game
from games.craft.players.builders import BUILDERS, BuilderDecision, MessageReading, Situation
from games.craft.players.claims import planted_claims
from games.craft.players.facts import TurnFacts, Voice
from games.craft.players.personas import PERSONAS
from games.craft.players.plan import Plan
from games.craft.players.sight import BuiltMove, Heard, Sight
from games.craft.players.speech import director_raw
from games.craft.players.truth import planted_labels
from games.players.onset import onset_of, unmended
from games.players.player import Observation
from schemas.game import Turn

FAULTLESS_DIRECTOR: Final = "clear"
FAULTLESS_BUILDER: Final = "oracle_follower"
"""Who plays before the turn from which `persona@turn` or `builder@turn` falls into its fault."""

CASTS: Final[Mapping[str, Collection[str]]] = {"director": PERSONAS, "builder": BUILDERS}
"""Role -> scripts that remember."""


class ScriptedTeam:
    """Three directors and a builder. Structure, settings, team and seed fix all that they say.

    A director who is called again in the same turn says the same thing in other words.
    """

    keeps_replies = False

    def __init__(self, game: Game, players: Mapping[str, str]) -> None:
        """The players of a game.

        Args:
            game: the game.
            players: agent -> persona or builder, `persona@turn` of one who plays faultlessly before that turn.
        """
        self._game = game
        self._onsets = {director: onset_of(players[director], PERSONAS, "persona") for director in DIRECTORS}
        self._building = onset_of(players["Builder"], BUILDERS, "builder")
        names = [players[director] for director in DIRECTORS]
        team = f"{names[0] if len(set(names)) == 1 else '+'.join(names)}:{players['Builder']}"
        self._rng = random.Random(unmended(f"craft-players:{game.structure.structure_id}:{team}:{game.seed}"))
        self._heard: list[Heard] = []
        self._done: list[BuiltMove] = []
        self._voices: list[Voice] = []
        self._plans: dict[Director, Plan] = {}
        self._decision: BuilderDecision | None = None

    def answer(self, seen: Observation) -> str:
        """A director's text, or the builder's line."""
        director = next((name for name in DIRECTORS if name == seen.agent), None)
        if director is None:
            self._decision = self._decided(seen.turn)
            return self._decision.line
        sight = Sight(
            director=director,
            turn=seen.turn,
            target=seen.data.target_view,
            walls=seen.data.board_views,
            heard=tuple(self._heard),
            done=tuple(self._done),
        )
        if director not in self._plans:
            self._plans[director] = PERSONAS[self._onsets[director].at(seen.turn, FAULTLESS_DIRECTOR)].plan(sight, self._rng)
            self._heard.append(Heard(sight.turn, director, self._plans[director].said))
        return director_raw(self._plans[director], sight, self._rng)

    def _decided(self, turn: int) -> BuilderDecision:
        seen = self._game.observe_builder()
        silent = ("output_empty_message", "output_blank", "output_api_error")
        readings = tuple(MessageReading(name, None if plan.fault in silent else plan.said) for name, plan in self._plans.items())
        return BUILDERS[self._building.at(turn, FAULTLESS_BUILDER)].decide(Situation(seen.board, seen.listed, readings), self._rng)

    def known(self, turn: Turn) -> Turn:
        """The turn with its labels, and the claims of its texts."""
        facts = self.finished()
        voices: dict[str, Voice] = {voice.director: voice for voice in facts.voices}
        utterances = [
            replace(said, claims=planted_claims(voices[said.agent], said.channel)) if said.agent in voices else said
            for said in turn.utterances
        ]
        return replace(turn, utterances=utterances, labels=list(planted_labels(facts)))

    def finished(self) -> TurnFacts:
        """What is known about the turn that has just ended."""
        record = self._game.turns[-1]
        assert self._decision is not None
        answers = dict(record.answers)
        voices = tuple(Voice(record.turn, director, plan, answers[director]) for director, plan in self._plans.items())
        facts = TurnFacts(
            record=record,
            target=self._game.structure.target,
            voices=voices,
            earlier=tuple(self._voices),
            done=tuple(self._done),
            decision=self._decision,
        )
        self._voices += voices
        self._plans = {}
        if record.outcome is not None:
            self._done.append(BuiltMove(record.turn, record.outcome.move, record.outcome.accepted))
        return facts
