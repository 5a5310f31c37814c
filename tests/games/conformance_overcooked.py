"""Collab-Overcooked behind the small face of the conformance checks: its game asks the players, here it waits for their answers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.tasks import tasks
from games.overcooked.game import Game
from games.overcooked.replay import replay
from games.overcooked.text.prompts import Query, Remembered, observation
from tests.games.conformance import LoggedStep, ReadBack, Ruling, Subject
from tests.games.overcooked.driven import timestep
from tests.ingest.overcooked.overcooked_logs import play_order

__all__ = ["OVERCOOKED"]

_CLOCK: Final = "clock"
_HORIZON: Final = 25
_PLANS: Final = (
    "wait(2)",
    "pickup(egg, ingredient_dispenser); place_obj_on_counter()",
    "request('pickup(egg, ingredient_dispenser)'); wait(1)",
    "pickup(moon, ingredient_dispenser)",
    "fly(home)",
    "deliver_soup()",
)
_SAYS: Final = ("[NOTHING]", "Bring me the egg, please.", "I wait for you. [END]")


class _AskedError(Exception):
    """The game wants an answer that is not there yet."""


class Kitchen:
    """A game that stops at every question. Each call plays it anew from its start, with all answers so far; the clock begins a timestep."""

    agents = (_CLOCK, *AGENTS)

    def __init__(self, order: str, horizon: int) -> None:
        self._order, self._horizon = order, horizon
        self._answers: list[str] = []
        self._begun = 0
        self.query: Query | None = None
        self._play()

    @property
    def done(self) -> bool:
        return self.query is None and self.game.over

    @property
    def next_agent(self) -> str | None:
        if self.query is not None:
            return AGENTS[self.query.agent]
        return None if self.game.over else _CLOCK

    def state(self) -> Any:
        asked = self.query and (self.query.agent, self.query.kind, self.query.text)
        return self.game.world.to_json(), self.game.recorded, self.entries, asked

    def observe(self, agent: str) -> str:
        if agent == _CLOCK:
            return self._order
        seat = AGENTS.index(agent)
        return observation(self.game.world, seat, Remembered(self.game.recorded[seat]), ([], []))

    def act(self, agent: str, answer: str, /) -> Sequence[dict[str, Any]]:
        """Give the log entries of the timesteps that end with this answer."""
        if agent == _CLOCK:
            self._begun += 1
        else:
            self._answers.append(answer)
        told = len(self.entries)
        self._play()
        return self.entries[told:]

    def answer(self, query: Query) -> str:
        """Answer the game from what was given."""
        found = next(self._rest, None)
        if found is None:
            self.query = query
            raise _AskedError
        return found

    def _play(self) -> None:
        self._rest = iter(self._answers)
        self.query = None
        self.game = Game(self._order, horizon=self._horizon)
        self.entries: list[dict[str, Any]] = []
        try:
            while len(self.entries) < self._begun:
                self.entries.append(timestep(self.game, (self, self)))
        except _AskedError:
            return


def _answer(environment: Any, rng: random.Random) -> str:
    """Plans that can be carried out or not, words that end a conversation or not, or nothing that can be read."""
    role = environment.next_agent
    return rng.choice(
        (*(f"{role} analysis: {rng.random()}\n{role} plan: {rng.choice(_PLANS)}\n{role} say: {rng.choice(_SAYS)}" for _ in range(4)), "???")
    )


def _verdicts(entries: Sequence[dict[str, Any]]) -> Sequence[Ruling]:
    found = []
    for entry in entries:
        for agent, action in enumerate(entry["actions"]):
            errors = entry["statistical_data"]["error"][agent]["validator_error"]
            assert errors["error_num"] == len(errors["error_message"])
            found += [Ruling(accepted=False, reason=message) for message in errors["error_message"]]
            found.append(Ruling(accepted=bool(action), reason=None))
    return found


def _write(folder: Path, seed: int) -> Path:
    """A log is one document, replaced whole while a game goes on: every version that a killed game may leave is a line here."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "versions.jsonl"
    versions = play_order(_order(seed), "bad-responder-param", seed=seed, horizon=_HORIZON)
    path.write_bytes(b"\n".join(orjson.dumps(version) for version in versions))
    return path


def _read(lines: Sequence[bytes]) -> ReadBack:
    """Answers from the messages; states from the log and from the replay of its actions, which must tell the same."""
    log = orjson.loads(lines[-1])
    own, entries = log["cotrace"], log["content"]
    replayed = replay(own["order"], [entry["actions"] for entry in entries], own["rules"])
    steps = []
    for entry, step in zip(entries, replayed, strict=True):
        outputs = [_output(message) for messages in entry["content"]["content"] for message in messages]
        steps.append(LoggedStep(["", *outputs], (entry, step.after, step.score)))
    return ReadBack(Kitchen(own["order"], own["horizon"]), steps)


def _output(message: dict[str, Any]) -> str:
    role = AGENTS[message["agent"]]
    return f"{role} analysis: {message['analysis']}\n{message['plan']}\n{role} say: {message['say']}"


def _state(environment: Any) -> Any:
    world = environment.game.world
    return orjson.loads(orjson.dumps(environment.entries[-1])), world.to_json(), world.score


def _order(seed: int) -> str:
    orders = list(tasks())
    return orders[seed % len(orders)]


OVERCOOKED: Final = Subject(
    name="overcooked",
    begin=lambda seed: Kitchen(_order(seed), 6),
    answer=_answer,
    verdicts=_verdicts,
    write_log=_write,
    read_log=_read,
    logged_state=_state,
    lacks={"turns_are_kept": "the game asks its players itself, one at a time: nobody can come out of turn"},
)
