"""A team of scripted players in one game.

What a scripted director's texts claim: known from the plan, whatever the wording.
"""

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from games.craft.claims import CraftClaim, Named, Remark, Request, SeenBy, Stance, View
from games.craft.engine.board import CELLS, DIRECTORS, SEEN_BY, Director
from games.craft.game import Game
from games.craft.players.builders import BUILDERS, BuilderDecision, MessageReading, Situation
from games.craft.players.directors import PERSONAS
from games.craft.players.sight import BuiltMove, Heard, Instruction, Plan, Sight
from games.craft.players.speech import director_raw
from games.craft.players.truths import TurnFacts, Voice, planted_labels
from games.players.player import Observation
from games.players.setup import onset_of, unmended
from schemas.claims import written
from schemas.game import Turn

_VOUCHED: Final = {"private": ("request", "remark"), "public": ("request", "remark", "named")}
"""Kinds of claim that come of the plan alone; others may come of the wording, too, such as a wall that is looked over cell by cell."""


def planted_claims(voice: Voice, channel: str) -> list[dict[str, Any]]:
    """Give what a director's thought or message claims, as logs write it; nothing where the text does not show the plan."""
    shows, claims = (voice.thinks, _thought(voice)) if channel == "private" else (voice.speaks, _requests(voice))
    vouched = {"kind": "read", "kinds": list(_VOUCHED[channel])}
    return [vouched, *(written(claim) for claim in claims)] if shows else [vouched]


def _thought(voice: Voice) -> Iterator[CraftClaim]:
    plan = voice.plan
    named = set(plan.thought.cells if plan.thought else ())
    if plan.thought is not None:
        yield _request(plan.thought)
    if plan.right_block is not None:
        cell, layer, color = plan.right_block
        yield Remark(verb="confirm", color=cast("Any", color), cells=(cell,), layer=cast("Any", layer))
        named.add(cell)
    if plan.other_wall is not None:
        named.add(plan.other_wall)
    yield from _names(named)


def _requests(voice: Voice) -> Iterator[CraftClaim]:
    plan = voice.plan
    if plan.request is not None:
        yield _request(plan.request)
        yield from _names(set(plan.request.cells))
    if plan.perspective != "bare":
        yield View(seen_by=_seen_by(voice) if plan.perspective == "explicit" and plan.request is not None else "seat")
    if plan.endorses is not None:
        yield Stance(director=plan.endorses, attitude="agrees")
    if plan.disputes is not None:
        yield Stance(director=plan.disputes, attitude="disputes")


def _seen_by(voice: Voice) -> SeenBy:
    cells = voice.plan.request.cells if voice.plan.request is not None else ()
    return "shared" if any(SEEN_BY[cell] != (voice.director,) for cell in cells) else "speaker"


def _request(instruction: Instruction) -> Request:
    cells = tuple(cell for cell in CELLS if cell in instruction.cells)
    return Request(
        verb=instruction.verb,
        color=cast("Any", instruction.color),
        size=cast("Any", instruction.size),
        cells=cells,
        layer=cast("Any", instruction.layer),
        stated=bool(cells),
        first=True,
    )


def _names(cells: set[str]) -> Iterator[Named]:
    return (Named(cell=cell) for cell in CELLS if cell in cells)


FAULTLESS_DIRECTOR: Final = "clear"
FAULTLESS_BUILDER: Final = "oracle_follower"
"""Who plays before the turn from which `persona@turn` or `builder@turn` falls into its fault."""

CASTS: Final[Mapping[str, Collection[str]]] = {"director": PERSONAS, "builder": BUILDERS}
"""Role -> scripts that remember."""


class ScriptedTeam:
    """Three directors and a builder. Structure, settings, team and seed fix all that they say.

    A director who is called again in the same turn repeats its message in other words.
    """

    stores_replies = False

    def __init__(self, game: Game, players: Mapping[str, str]) -> None:
        """The players of a game: agent -> persona or builder, `persona@turn` of one who plays faultlessly before that turn."""
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
            self._heard.append(Heard(sight.turn, director, self._plans[director].request))
        return director_raw(self._plans[director], sight, self._rng)

    def _decided(self, turn: int) -> BuilderDecision:
        seen = self._game.observe_builder()
        silent = ("output_empty_message", "output_blank", "output_api_error")
        requests = {name: plan.request for name, plan in self._plans.items() if plan.fault not in silent}
        readings = tuple(MessageReading(name, request) for name, request in requests.items() if request is not None)
        return BUILDERS[self._building.at(turn, FAULTLESS_BUILDER)].decide(Situation(seen.board, seen.listed, readings), self._rng)

    def known(self, turn: Turn) -> Turn:
        """The turn with its labels, and the claims of its texts."""
        facts = self.finished()
        voices: dict[str, Voice] = {voice.director: voice for voice in facts.voices}
        utterances = [
            replace(request, claims=planted_claims(voices[request.agent], request.channel)) if request.agent in voices else request
            for request in turn.utterances
        ]
        return replace(turn, utterances=utterances, labels=list(planted_labels(facts)))

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        self._rng.seed(seed)

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
