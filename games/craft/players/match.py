"""One game between scripted players, turn by turn."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from games.craft.engine.blocks import DIRECTORS, Director
from games.craft.game import Game, GameSettings
from games.craft.players.builders import BUILDERS, Builder, BuilderDecision, MessageReading, Situation
from games.craft.players.facts import TurnFacts, Voice
from games.craft.players.personas import PERSONAS, Persona
from games.craft.players.plan import Plan
from games.craft.players.sight import BuiltMove, Heard, Sight
from games.craft.players.speech import director_raw
from games.craft.targets.structures import Structure
from games.players.onset import onset_of, unmended
from schemas.errors import UsageError

__all__ = ["FAULTLESS_BUILDER", "FAULTLESS_DIRECTOR", "Team", "play_match", "team"]

FAULTLESS_DIRECTOR: Final = "clear"
FAULTLESS_BUILDER: Final = "oracle_follower"
"""Who plays before the turn from which `persona@turn` or `builder@turn` falls into its fault."""


@dataclass(frozen=True, slots=True)
class Team:
    """Three directors and a builder."""

    directors: Mapping[Director, str]
    """Persona of each, `persona@turn` of one who is `clear` before that turn."""

    builder: str

    @property
    def persona(self) -> str:
        """The directors in one word: the persona, or the three joined by ``+``."""
        names = [self.directors[director] for director in DIRECTORS]
        return names[0] if len(set(names)) == 1 else "+".join(names)


def team(persona: str, builder: str) -> Team:
    """Put a team together: one persona for all directors, or three joined by ``+`` for D1, D2, D3.

    Raises:
        UsageError: a name is unknown, or there are neither one nor three personas.
    """
    names = persona.split("+")
    for name in names:
        onset_of(name, PERSONAS, "persona")
    if len(names) not in (1, len(DIRECTORS)):
        raise UsageError(f"persona {persona!r} names {len(names)} directors; give one for all or three joined by +")
    onset_of(builder, BUILDERS, "builder")
    spread = names * len(DIRECTORS) if len(names) == 1 else names
    return Team(dict(zip(DIRECTORS, spread, strict=True)), builder)


@dataclass(slots=True)
class _Talk:
    """What has been said and done so far."""

    heard: list[Heard] = field(default_factory=list)
    done: list[BuiltMove] = field(default_factory=list)
    voices: list[Voice] = field(default_factory=list)


def play_match(structure: Structure, settings: GameSettings, team: Team, seed: int) -> Iterator[TurnFacts]:
    """Play a game and give each turn as it ends; structure, settings, team and seed fix all of it.

    A director who is called again in the same turn says the same thing in other words.
    """
    game = Game(structure, settings, seed=seed)
    rng = random.Random(unmended(f"craft-players:{structure.structure_id}:{team.persona}:{team.builder}:{seed}"))
    onsets = {director: onset_of(name, PERSONAS, "persona") for director, name in team.directors.items()}
    building = onset_of(team.builder, BUILDERS, "builder")
    talk = _Talk()
    while not game.done:
        turn = game.state().turn
        personas: dict[Director, Persona] = {director: PERSONAS[onset.at(turn, FAULTLESS_DIRECTOR)] for director, onset in onsets.items()}
        yield _play_turn(game, personas, BUILDERS[building.at(turn, FAULTLESS_BUILDER)], talk, rng)


def _play_turn(game: Game, personas: Mapping[Director, Persona], builder: Builder, talk: _Talk, rng: random.Random) -> TurnFacts:
    plans: dict[Director, Plan] = {}
    for director in game.state().speakers:
        sight = _sight(game, director, talk)
        if director not in plans:
            plans[director] = personas[director].plan(sight, rng)
            talk.heard.append(Heard(sight.turn, director, plans[director].said))
        game.act(director, director_raw(plans[director], sight, rng))
    decision = _decide(game, plans, builder, rng)
    record = game.act("builder", decision.line)
    if record is None:
        raise AssertionError("the builder's line ends the turn")
    answers = dict(record.answers)
    voices = tuple(Voice(record.turn, director, plan, answers[director]) for director, plan in plans.items())
    facts = TurnFacts(
        record=record,
        target=game.structure.target,
        voices=voices,
        earlier=tuple(talk.voices),
        done=tuple(talk.done),
        decision=decision,
    )
    talk.voices += voices
    if record.outcome is not None:
        talk.done.append(BuiltMove(record.turn, record.outcome.move, record.outcome.accepted))
    return facts


def _sight(game: Game, director: Director, talk: _Talk) -> Sight:
    seen = game.observe_director(director)
    return Sight(
        director=director,
        turn=seen.turn,
        target=seen.target_view,
        walls=seen.board_views,
        heard=tuple(talk.heard),
        done=tuple(talk.done),
    )


def _decide(game: Game, plans: Mapping[Director, Plan], builder: Builder, rng: random.Random) -> BuilderDecision:
    seen = game.observe_builder()
    silent = ("output_empty_message", "output_blank", "output_api_error")
    readings = tuple(MessageReading(director, None if plan.fault in silent else plan.said) for director, plan in plans.items())
    return builder.decide(Situation(seen.board, seen.listed, readings), rng)
