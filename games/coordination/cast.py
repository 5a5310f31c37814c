"""Scripts that play LLM-Coordination among themselves: they see the whole state and remember, and their faults are planted labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final, Literal, get_args

from games.coordination.capture.rules import listed as listed_room
from games.coordination.courses.agent import CourseSetup, Table
from games.coordination.hanabi.table import PLAYERS_IN_ORDER
from games.coordination.hanabi.wording import action_text
from games.coordination.kitchen.layouts import LAYOUTS
from games.coordination.players import PLANTED_QUESTIONS, PLAYERS, Player, ScriptDecision
from games.coordination.policies import capture, escape, hanabi, kitchen
from games.players.onset import onset_of
from games.players.player import Observation
from schemas.game import PlantedLabel, Turn

CoordinationGame = Literal["hanabi", "overcooked", "collab_capture", "collab_escape"]

GAMES: Final[tuple[CoordinationGame, ...]] = get_args(CoordinationGame)

POLICIES: Final[Mapping[CoordinationGame, Sequence[str]]] = {
    "hanabi": tuple(hanabi.POLICIES),
    "overcooked": tuple(kitchen.POLICIES),
    "collab_capture": tuple(capture.POLICIES),
    "collab_escape": tuple(escape.POLICIES),
}
"""Game -> its scripts that remember."""

BEFORE_ONSET: Final[Mapping[CoordinationGame, str]] = {
    "hanabi": hanabi.FAULTLESS,
    "overcooked": "greedy",
    "collab_capture": capture.FAULTLESS,
    "collab_escape": escape.FAULTLESS,
}
"""Game -> who plays before turn 5 where `policy@5` plays; but for the kitchen it plays as well as one can."""


class ScriptedTeam:
    """Alice and Bob, each by a policy of the game."""

    keeps_replies = True

    def __init__(self, game: CoordinationGame, at: CourseSetup, table: Table) -> None:
        self._game, self._table = game, table
        self._layout = LAYOUTS.get(at.variant)
        self._onsets = {player: onset_of(at.taken[player], POLICIES[game], "policy") for player in PLAYERS}
        self._decided: dict[Player, ScriptDecision] = {}

    def answer(self, seen: Observation) -> str:
        """A reply as a model would write it."""
        player: Player = "Alice" if seen.agent == "Alice" else "Bob"
        script = self._onsets[player].at(seen.turn, BEFORE_ONSET[self._game])
        decide: Mapping[CoordinationGame, Callable[[str, Player, Sequence[str], Random], ScriptDecision]] = {
            "hanabi": self._hanabi,
            "overcooked": self._kitchen,
            "collab_capture": self._capture,
            "collab_escape": lambda name, who, _, rng: escape.POLICIES[name](self._state, who, rng),
        }
        self._decided[player] = decide[self._game](script, player, seen.options, self._table.rng)
        return self._decided[player].response

    @property
    def _state(self) -> Any:
        return self._table.state

    def _hanabi(self, script: str, player: Player, options: Sequence[str], rng: Random) -> ScriptDecision:
        move, reason, faults = hanabi.POLICIES[script](self._state, PLAYERS_IN_ORDER.index(player), player, rng)
        intended = next(option for option in options if option.endswith(action_text(move, player)))
        return ScriptDecision(intended=intended, explanation=reason, injected=faults)

    def _kitchen(self, script: str, player: Player, options: Sequence[str], rng: Random) -> ScriptDecision:
        assert self._layout is not None
        return kitchen.POLICIES[script](self._layout, self._state, PLAYERS.index(player), tuple(options), rng)

    def _capture(self, script: str, player: Player, _: Sequence[str], rng: Random) -> ScriptDecision:
        action, reason, faults = capture.POLICIES[script](self._state, player, rng)
        place = self._state.actions(player).index(action)
        return ScriptDecision(intended=listed_room(place, action), explanation=reason, injected=faults)

    def known(self, turn: Turn) -> Turn:
        """The turn with the answers that follow from what its scripts did wrong on purpose."""
        labels = [
            PlantedLabel(rubric=rubric, question=question, agent=player, answer="no")
            for player, decision in self._decided.items()
            for rubric, question in (PLANTED_QUESTIONS[fault] for fault in decision.injected if fault in PLANTED_QUESTIONS)
        ]
        self._decided = {}
        return replace(turn, labels=labels)
