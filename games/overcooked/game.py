"""One game: who is asked when, conversations, queues, retries, and the log of every timestep (formats/overcooked.md, sections 2, 5, 6)."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from games.overcooked.engine.drawing import map_text
from games.overcooked.engine.execution import is_over, next_move
from games.overcooked.engine.layout import AGENTS, kitchen
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.vocabulary import DELIVER
from games.overcooked.engine.world import Move, Rules, World, start_world
from games.overcooked.text.grammar import NOTHING, Fields, fields_of, parse_call, plan_items
from games.overcooked.text.observation import observation

__all__ = ["Game", "Player", "Query", "QueryKind"]

QueryKind = Literal["turn", "answer", "closing", "format", "validator"]
"""Own turn; answer to the partner; the opener's next message; retry after an unreadable output; retry after a refused action."""

_WAIT: Final = "wait(1)"
_SAME: Final = 0.9
"""Cosine above which two says count as the same."""

_SPEECH: Final = ("request", "accept", "deny", "clarify")
"""Items with these words are never executed."""

_MOST_ROUNDS: Final = 5
"""Answers of the partner after which the sane rules end a conversation; the published ones have no maximum."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a player is asked."""

    agent: int
    kind: QueryKind
    world: World
    """The true state; players that only read `text` do not see it."""

    text: str
    """The state text, with conversation and error where there are any."""

    said: Sequence[tuple[int, str]]
    """The conversation so far: speaker and say."""

    error: str | None
    """The refusal, or the output that could not be read."""


class Player(Protocol):
    """Whoever plays an agent."""

    def answer(self, query: Query) -> str:
        """Give a whole output with its three labelled fields."""
        ...


@dataclass(slots=True)
class _Slot:
    """What an agent is doing and is going to do."""

    current: str | None = None
    waited: int = 0
    queue: list[str] = field(default_factory=list)
    recorded: list[dict[str, object]] = field(default_factory=list)


class Game:
    """A game of two players; `step` plays one timestep and gives its log entry."""

    def __init__(self, order: str, players: tuple[Player, Player], *, horizon: int, rules: Rules = "published") -> None:
        self.world = start_world(kitchen(), order, rules)
        self.horizon = horizon
        self._players = players
        self._slots = (_Slot(), _Slot())
        self._entry: dict[str, Any] = {}

    @property
    def over(self) -> bool:
        """The order has been delivered, or the horizon is reached."""
        return self.world.delivered or self.world.timestep >= self.horizon

    @property
    def recorded(self) -> list[list[dict[str, object]]]:
        """Per agent its recorded actions."""
        return [slot.recorded for slot in self._slots]

    def play(self) -> Iterator[dict[str, Any]]:
        """Play to the end, giving the log entry of each timestep once it is over."""
        while not self.over:
            yield self.step()

    def step(self) -> dict[str, Any]:
        """Play one timestep: the Chef decides, then the Assistant, both on the same state; then both act."""
        world = self.world
        self._entry = _new_entry(world)
        for agent in range(len(AGENTS)):
            self._decide(agent)
        for agent, slot in enumerate(self._slots):
            self._give_up_unreachable(agent, slot)
        actions = [slot.current or _WAIT for slot in self._slots]
        self._entry["actions"] = actions
        self._entry["content"]["action_list"] = [[action, *slot.queue] for action, slot in zip(actions, self._slots, strict=True)]
        before = world.score
        done = world.step([next_move(world, agent, action) for agent, action in enumerate(actions)])
        for slot in self._slots:
            slot.waited += 1
        last = world.timestep >= self.horizon
        for agent, text in done:
            final = text == DELIVER and world.delivered
            if final or not last:  # what happens in the last step of a failed game is never recorded
                self._slots[agent].recorded.append({"timestamp": world.timestep - final, "action": text})
        self._entry["statistical_data"]["score"] = world.score - before
        return self._entry

    # -- decisions --------------------------------------------------------------------------------

    def _decide(self, agent: int) -> None:
        slot = self._slots[agent]
        if slot.current is not None:
            if not is_over(self.world, agent, slot.current, slot.waited):
                return
            slot.current = None
        if not slot.queue:
            self._own_turn(agent)
        self._start(agent, self._take(slot))

    def _give_up_unreachable(self, agent: int, slot: _Slot) -> None:
        """Wait instead of an action that has nowhere to stand; the published engine draws lots in every step until it does."""
        call = parse_call(slot.current or "")
        if slot.current and call is not None and call.name != "wait" and next_move(self.world, agent, slot.current) == Move():
            slot.current, slot.waited = _WAIT, 0

    def _own_turn(self, agent: int) -> None:
        output = self._ask(agent, "turn", agent, [])
        slot = self._slots[agent]
        if output.say != NOTHING and "[EMPTY]" not in output.say:
            output = self._converse(agent, output)
        slot.queue = self._items(output.plan)

    def _take(self, slot: _Slot) -> str:
        """The next action of a queue. As published, one that is reached behind a request stays in the queue and keeps its leading blank."""
        items, slot.queue = slot.queue, []
        executable = [item for item in items if not _is_speech(item)]
        if not executable:
            return _WAIT
        if self.world.rules == "sane":
            slot.queue = executable[1:]
            return executable[0].strip()
        slot.queue = items[1:]
        return executable[0] if _is_speech(items[0]) else executable[0].strip()

    def _items(self, plan: str) -> list[str]:
        items = list(plan_items(plan))
        while self.world.rules == "published" and len(items) > 1 and items[0].strip().startswith("wait("):
            del items[0]  # a wait before other items is dropped
        return items

    def _start(self, agent: int, action: str) -> None:
        """Put an action in force; a refused one is corrected once, then waited away."""
        slot = self._slots[agent]
        message = refusal(self.world, agent, action)
        if message is not None:
            slot.queue = []
            errors = self._entry["statistical_data"]["error"][agent]["validator_error"]
            errors["error_num"] += 1
            errors["error_message"].append(message)
            output = self._ask(agent, "validator", agent, [], f"Your action {action} raised an error: {message}")
            slot.queue = self._items(output.plan)
            action = self._take(slot)
            if refusal(self.world, agent, action) is not None:
                slot.queue, action = [], _WAIT
        slot.current, slot.waited = action, 0

    # -- conversations ----------------------------------------------------------------------------

    def _converse(self, opener: int, first: Fields) -> Fields:
        """Let both speak until the opener ends it; gives the opener's last output."""
        said = [(opener, first.say)]
        output = first
        for rounds in range(1, 1000):
            answer = self._ask(1 - opener, "answer", opener, said)
            repeated = _is_repeated(answer.say, 1 - opener, said)
            said.append((1 - opener, answer.say))
            partner = self._slots[1 - opener]
            if not partner.queue and not repeated:
                partner.queue = self._items(answer.plan)
            output = self._ask(opener, "closing", opener, said)
            ended = self._ends(output.say) or _is_repeated(output.say, opener, said)
            said.append((opener, output.say))
            if ended or (self.world.rules == "sane" and rounds >= _MOST_ROUNDS):
                break
        self._entry["statistical_data"]["communication"][opener] = {"call": 1, "turn": [say for _, say in said], "token": []}
        return output

    def _ends(self, say: str) -> bool:
        """Whether a say of the opener ends the conversation; as published, the letters "end" inside any word do."""
        return say == NOTHING or ("end" in say.lower() if self.world.rules == "published" else "[END]" in say)

    # -- queries ----------------------------------------------------------------------------------

    def _ask(self, agent: int, kind: QueryKind, owner: int, said: Sequence[tuple[int, str]], error: str | None = None) -> Fields:
        """Ask a player, again if its output cannot be read, and log the message in the turn of its owner."""
        shown = self._shown(agent, said, error)
        output = self._players[agent].answer(Query(agent, kind, self.world, shown, said, error))
        fields = fields_of(output, AGENTS[agent])
        say = fields.say
        for _ in range(2 if not fields.plan and not fields.analysis else 1):
            if fields.plan and fields.analysis:
                break
            self._count_format_error(agent, output)
            output = self._players[agent].answer(Query(agent, "format", self.world, shown, said, output))
            fields = fields_of(output, AGENTS[agent])
        if kind in ("turn", "validator"):
            self._entry["content"]["observation"][agent] = shown
        self._entry["content"]["content"][owner].append({"agent": agent, "analysis": fields.analysis, "say": say, "plan": fields.plan})
        return Fields(fields.analysis, fields.plan, say)

    def _shown(self, agent: int, said: Sequence[tuple[int, str]], error: str | None) -> str:
        plans = [[*([slot.current] if slot.current else []), *slot.queue] for slot in self._slots]
        lines = [f"{AGENTS[who]} say history turn {number} : {say}" for number, (who, say) in enumerate(said, start=1)]
        return "\n".join([observation(self.world, agent, self._slots[agent].recorded, plans), *lines, *([error] if error else [])])

    def _count_format_error(self, agent: int, output: str) -> None:
        statistics = self._entry["statistical_data"]
        errors = statistics["error"][agent]["format_error"]
        errors["error_num"] += 1
        errors["error_message"].append(output)
        statistics["error_correction"][agent]["format_correction"]["correction_num"] += 1


def _new_entry(world: World) -> dict[str, Any]:
    """The log entry of a timestep before anything has happened in it (section 8)."""
    return {
        "timestamp": world.timestep,
        "order_list": [world.order],
        "actions": [],
        "map": map_text(world),
        "statistical_data": {
            "score": 0,
            "communication": [{"call": 0, "turn": [], "token": []} for _ in AGENTS],
            "error": [{kind: {"error_num": 0, "error_message": []} for kind in ("format_error", "validator_error")} for _ in AGENTS],
            "error_correction": [
                {
                    "format_correction": {"correction_num": 0, "correction_tokens": []},
                    "validator_correction": {"correction_num": 0, "reflection_obtain": [], "correction_tokens": []},
                }
                for _ in AGENTS
            ],
        },
        "content": {
            "observation": [[], []],
            "reflection": [[], []],
            "content": [[], []],
            "action_list": [[], []],
            "original_log": "",
        },
    }


def _is_speech(item: str) -> bool:
    return any(word in item for word in _SPEECH)


def _is_repeated(say: str, agent: int, said: Sequence[tuple[int, str]]) -> bool:
    """Whether an agent has said nearly the same before in this conversation; words stand in for the published embeddings."""
    return any(who == agent and _cosine(say, earlier) > _SAME for who, earlier in said)


def _cosine(first: str, second: str) -> float:
    one, two = (Counter(re.findall(r"\w+", text.lower())) for text in (first, second))
    product = sum(count * two[word] for word, count in one.items())
    length = math.sqrt(sum(count**2 for count in one.values()) * sum(count**2 for count in two.values()))
    return product / length if length else 0.0
