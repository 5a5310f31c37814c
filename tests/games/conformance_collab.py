"""The collaborative games behind the small face of the conformance checks; tests/games/conformance_subjects.py lists them.

Their rules take the actions of both players at once, or ask the players themselves. So each subject says which checks it cannot take.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from games.coordination import capture, escape, kitchen
from games.coordination.courses.agent import CoordinationGame
from games.coordination.escape import TURN_CAP
from games.coordination.hanabi import PLAYERS_IN_ORDER as ROLES
from games.coordination.hanabi import HanabiTable, Move, deck_of_seed, legal_moves, listed, observation
from games.coordination.kitchen import LAYOUTS
from games.coordination.players import PLAYERS, Player, ground
from schemas.common.errors import UsageError
from tests.games.conformance import LoggedStep, ReadBack, Ruling, Subject
from tests.ingest.coordination.coordination_logs import PlayRequest, play

__all__ = ["COORDINATION"]

_AT_ONCE: Final = "the rules take both players' actions of a turn in one call: nobody can come out of turn"
_TICKS: Final = 30


@dataclass(slots=True)
class Rounds:
    """Two players who act in the same turn, asked one after the other; both are asked anew where the rules refuse the turn."""

    table: Any
    turn: Callable[[Any, Mapping[Player, Any], int], tuple[Any, bool]]
    """State, answers, number of the turn from 1 -> state after it, whether the game is over."""

    shown: Callable[[Any, Player], Any]
    done: bool = False
    turns: int = 0
    answers: dict[Player, Any] = field(default_factory=dict)

    @property
    def agents(self) -> Sequence[Player]:
        return PLAYERS

    @property
    def next_agent(self) -> Player | None:
        return None if self.done else PLAYERS[len(self.answers)]

    def state(self) -> Any:
        return self.table, dict(self.answers), self.turns

    def observe(self, agent: Player) -> Any:
        return self.shown(self.table, agent)

    def act(self, agent: Player, answer: Any, /) -> Sequence[Ruling]:
        """Give the verdict on the turn that this answer ends."""
        self.answers[agent] = answer
        if len(self.answers) < len(PLAYERS):
            return ()
        answers, self.answers = self.answers, {}
        try:
            self.table, self.done = self.turn(self.table, answers, self.turns + 1)
        except UsageError as error:
            return (Ruling(accepted=False, reason=str(error)),)
        self.turns += 1
        return (Ruling(accepted=True, reason=None),)


def _log(game: CoordinationGame, policy: str, variant: str = "") -> Callable[[Path, int], Path]:
    def write(folder: Path, seed: int) -> Path:
        variants = (variant,) if variant else ()
        return play(PlayRequest(game=game, out=folder, policies=(policy,), variants=variants, seeds=(seed,), ticks=_TICKS)).paths[0]

    return write


def _spoken(answers: Sequence[str], rng: random.Random) -> str:
    """One of the listed actions, with or without words around it, or a leap that is not listed everywhere."""
    action = rng.choice(answers)
    return rng.choice((f"Explanation: so.\nAction: {action}", f"Action: {action}", "move to room 8", "???"))


# -- CollabCapture ------------------------------------------------------------------------------------------------------------------------


def _capture(scenario: str) -> Rounds:
    return Rounds(capture.start(scenario), _capture_turn, lambda state, player: (state.rooms, state.doors, state.actions(player)))


def _capture_turn(state: capture.CaptureState, answers: Mapping[Player, str], number: int) -> tuple[capture.CaptureState, bool]:
    chosen = {}
    for player in PLAYERS:
        texts = {action.text: action for action in state.actions(player)}
        meant = ground(answers[player], list(texts))
        chosen[player] = texts[meant] if meant else capture.Action("move", 8)
    turned = capture.step(state, chosen, first=number == 1)
    return turned.state, turned.capture is not None or number == capture.TURN_LIMIT


def _capture_read(lines: Sequence[bytes]) -> ReadBack:
    turns = [orjson.loads(line) for line in lines]
    steps = [
        LoggedStep([f"Action: {player['executed']}" for player in turn["players"]], (turn["rooms_after"], turn["doors_after"]))
        for turn in turns
    ]
    return ReadBack(_capture(turns[0]["scenario"]), steps)


# -- CollabEscape -------------------------------------------------------------------------------------------------------------------------


def _escape(killer: Callable[[escape.EscapeState, int], escape.KillerChoice]) -> Rounds:
    def turn(state: escape.EscapeState, answers: Mapping[Player, str], number: int) -> tuple[escape.EscapeState, bool]:
        chosen = {player: ground(answers[player], escape.actions(state, player)) or answers[player] for player in PLAYERS}
        after, outcome = escape.step(state, killer(state, number), chosen)
        return after, outcome != "continue" or number == TURN_CAP

    return Rounds(escape.START, turn, lambda state, player: (state.rooms, state.generators, escape.actions(state, player)))


def _escape_begin(seed: int) -> Rounds:
    rng = random.Random(seed)
    return _escape(lambda state, _: rng.choice(escape.killer_options(state)))


def _escape_read(lines: Sequence[bytes]) -> ReadBack:
    """The killer goes where it went, which must be one of the ways that the rules leave it."""
    turns = [orjson.loads(line) for line in lines]

    def killer(state: escape.EscapeState, number: int) -> escape.KillerChoice:
        went = escape.room_in(turns[number - 1]["adversary_choice"])
        return next(option for option in escape.killer_options(state) if option.room == went)

    steps = [
        LoggedStep([player["calls"][0]["text"] for player in turn["players"]], (turn["rooms_after"], turn["generators_after"]))
        for turn in turns
    ]
    return ReadBack(_escape(killer), steps)


def _escape_state(environment: Any) -> Any:
    state = environment.table
    rooms = {name: f"room {room}" for name, room in state.rooms.items()}
    return rooms, {f"room {room}": counter for room, counter in state.generators.items()}


def _capture_answer(environment: Any, rng: random.Random) -> str:
    return _spoken([action.text for action in environment.table.actions(environment.next_agent)], rng)


def _capture_state(environment: Any) -> Any:
    return environment.table.rooms, environment.table.doors


def _escape_answer(environment: Any, rng: random.Random) -> str:
    return _spoken(escape.actions(environment.table, environment.next_agent), rng)


# -- Overcooked ---------------------------------------------------------------------------------------------------------------------------


def _kitchen(layout_name: str, ticks: int) -> Rounds:
    """The table holds the kitchen, and what a log line tells: the kitchen before the last tick and the points after it."""
    layout = LAYOUTS[layout_name]

    def turn(table: Any, answers: Mapping[Player, str], number: int) -> tuple[Any, bool]:
        before, _, score = table
        after, reward = kitchen.step(layout, before, [answers[player] for player in PLAYERS])
        return (after, before, score + reward), number == ticks

    start = kitchen.start(layout)
    return Rounds((start, start, 0), turn, lambda table, player: (table[0], kitchen.listed(layout, table[0], PLAYERS.index(player))))


def _kitchen_begin(seed: int) -> Rounds:
    return _kitchen(list(LAYOUTS)[seed % len(LAYOUTS)], _TICKS)


def _kitchen_answer(environment: Any, rng: random.Random) -> str:  # noqa: ARG001
    """Whatever a body can do, useful or not, and what it cannot."""
    return rng.choice((*kitchen.DIRECTIONS, "stay", "interact", "fly"))


def _kitchen_read(lines: Sequence[bytes]) -> ReadBack:
    ticks = [orjson.loads(line) for line in lines]
    steps = [
        LoggedStep([action["low_level"] for action in tick["actions"]], (tick["players"], tick["objects"], tick["score"])) for tick in ticks
    ]
    return ReadBack(_kitchen(ticks[0]["layout"], _TICKS), steps)


def _kitchen_state(environment: Any) -> Any:
    _, before, score = environment.table
    players = [
        {"name": player, "position": list(cook.spot), "orientation": cook.facing, "held": cook.held and _item(cook.held)}
        for player, cook in zip(PLAYERS, before.cooks, strict=True)
    ]
    return players, [{"position": list(spot), **_item(item)} for spot, item in sorted(before.objects.items())], score


def _item(item: kitchen.Item) -> dict[str, Any]:
    return {"name": item.name} | ({"state": ["onion", item.onions, item.ticks]} if item.name == "soup" else {})


# -- Hanabi -------------------------------------------------------------------------------------------------------------------------------


class Hanabi:
    """A table of two; a move that the referee forbids is answered with its words."""

    agents = ROLES

    def __init__(self, seed: int) -> None:
        self.table = HanabiTable(deck_of_seed(seed))

    @property
    def done(self) -> bool:
        return self.table.is_over

    @property
    def next_agent(self) -> Player | None:
        return None if self.done else ROLES[self.table.player_index]

    def state(self) -> Any:
        return self.table.state, self.next_agent

    def observe(self, agent: Player) -> str:
        seat = ROLES.index(agent)
        return observation(self.table.state, agent, seat, listed(legal_moves(self.table.state, seat), agent))

    def act(self, agent: Player, move: Move, /) -> Ruling:  # noqa: ARG002 - the table knows whose turn it is
        try:
            self.table.play(move)
        except UsageError as error:
            return Ruling(accepted=False, reason=str(error))
        return Ruling(accepted=True, reason=None)


def _hanabi_answer(environment: Any, rng: random.Random) -> Move:
    """A legal move, or a card that is not there, or a hint about no card."""
    wrong = (Move("play", card=7), Move("discard", card=-1), Move("reveal_color", value="X"), Move("reveal_rank", value="6"))
    table = environment.table
    return rng.choice(wrong) if rng.random() < 0.2 else rng.choice(legal_moves(table.state, table.player_index))


def _hanabi_read(lines: Sequence[bytes]) -> ReadBack:
    turns = [orjson.loads(line) for line in lines]
    return ReadBack(Hanabi(turns[0]["seed"]), [LoggedStep([_move(turn["engine_move"])], turn["state_after"]) for turn in turns])


def _move(engine_move: Mapping[str, Any]) -> Move:
    verb: Any = engine_move["type"].lower()
    value = engine_move.get("color") or engine_move.get("rank")
    return Move(verb, card=engine_move.get("card_index"), value=None if value is None else str(value))


def _hanabi_state(environment: Any) -> Any:
    state = environment.table.state
    return {
        "life_tokens": state.lives,
        "information_tokens": state.tokens,
        "deck_size": state.deck,
        "fireworks": state.fireworks,
        "discard_pile": list(state.discards),
        "hands": {player: list(hand) for player, hand in zip(ROLES, state.hands, strict=True)},
        "knowledge": {player: [known._asdict() for known in cards] for player, cards in zip(ROLES, state.knowledge, strict=True)},
    }


COORDINATION: Final = [
    Subject(
        name="coordination_hanabi",
        begin=Hanabi,
        answer=_hanabi_answer,
        verdicts=lambda verdict: [verdict],
        write_log=_log("hanabi", "hint_giver"),
        read_log=_hanabi_read,
        logged_state=_hanabi_state,
        lacks={"turns_are_kept": "the table knows whose turn it is and takes a move without a name: nobody can come out of turn"},
    ),
    Subject(
        name="coordination_overcooked",
        begin=_kitchen_begin,
        answer=_kitchen_answer,
        verdicts=lambda verdicts: verdicts,
        write_log=_log("overcooked", "greedy", "cramped_room"),
        read_log=_kitchen_read,
        logged_state=_kitchen_state,
        lacks={"turns_are_kept": _AT_ONCE},
    ),
    Subject(
        name="coordination_capture",
        begin=lambda seed: _capture(capture.SCENARIOS[seed % len(capture.SCENARIOS)]),
        answer=_capture_answer,
        verdicts=lambda verdicts: verdicts,
        write_log=_log("collab_capture", "random", "closed_open"),
        read_log=_capture_read,
        logged_state=_capture_state,
        lacks={"turns_are_kept": _AT_ONCE},
    ),
    Subject(
        name="coordination_escape",
        begin=_escape_begin,
        answer=_escape_answer,
        verdicts=lambda verdicts: verdicts,
        write_log=_log("collab_escape", "random"),
        read_log=_escape_read,
        logged_state=_escape_state,
        lacks={
            "turns_are_kept": _AT_ONCE,
            "other_seed_other_game": "all games start alike; the seed moves the killer only",
        },
    ),
]
