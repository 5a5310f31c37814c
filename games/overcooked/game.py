"""One game: who is asked when, conversations, queues, retries, and the published log entries (formats/overcooked.md, 2, 5, 6 and 8)."""

import math
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from games.overcooked.engine.actions import is_over, next_move, parse_call
from games.overcooked.engine.layout import AGENTS, DELIVER
from games.overcooked.engine.tasks import Task, task_of
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import Move, Rules, World, map_text, start_world
from games.overcooked.text import prompts
from games.overcooked.text.replies import NOTHING, Fields, plan_items


def new_entry(world: World) -> dict[str, Any]:
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


def document(world: World, recorded: Sequence[Any], entries: Sequence[dict[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """The whole log of a game so far; ``own``: what cotrace adds to it."""
    return {
        "total_timestamp": list(range(len(entries))),
        "total_order_finished": [world.order] if world.delivered else [],
        "total_score": world.score,
        "total_action_list": recorded,
        "content": entries,
        "cotrace": own,
    }


_T = TypeVar("_T")
Asking = Generator[prompts.Query, str, _T]
"""Asks players, is sent their outputs, and gives something in the end."""

_WAIT: Final = "wait(1)"
_SAME: Final = 0.9
"""Cosine above which two messages count as the same."""

SANE: Final = prompts.AgentRules(rounds=prompts.AGENT_RULES["paper"].rounds, ends_on_tag=True)
"""The published loop without its endless conversations."""

_SPEECH: Final = ("request", "accept", "deny", "clarify")
"""Items with these words are never executed."""


@dataclass(slots=True)
class _Slot:
    """What an agent is doing and is going to do."""

    current: str | None = None
    waited: int = 0
    queue: list[str] = field(default_factory=list)
    recorded: list[dict[str, object]] = field(default_factory=list)
    lessons: list[prompts.Lesson] = field(default_factory=list)


class Game:
    """A game of two players; `timestep` plays one timestep, asking whoever drives it, and gives its log entry."""

    def __init__(
        self,
        order: str | Task,
        *,
        horizon: int,
        rules: Rules = "published",
        agents: prompts.AgentRules | None = None,
    ) -> None:
        """Set up a game.

        ``order`` is one of the published kitchen's, or a task with a kitchen of its own; ``agents`` None: as published, or, under the sane
        rules, without the defects of the published loop.
        """
        task = order if isinstance(order, Task) else task_of(order)
        self.world = start_world(task.layout, task.order, rules)
        self.horizon = horizon
        self.agents = agents or (prompts.AgentRules() if rules == "published" else SANE)
        self._slots = (_Slot(), _Slot())
        self._entry: dict[str, Any] = {}
        self.refused: list[tuple[int, str, str]] = []
        """Of the present timestep: agent, the action as written, and why it was refused."""

    @property
    def over(self) -> bool:
        """The order has been delivered, or the horizon is reached."""
        return self.world.delivered or self.world.timestep >= self.horizon

    @property
    def recorded(self) -> list[list[dict[str, object]]]:
        """Per agent its recorded actions."""
        return [slot.recorded for slot in self._slots]

    def timestep(self) -> Asking[dict[str, Any]]:
        """Play one timestep: the Chef decides, then the Assistant, both on the same state; then both act."""
        world = self.world
        self._entry = new_entry(world)
        self.refused = []
        for agent in range(len(AGENTS)):
            yield from self._decide(agent)
        for agent, slot in enumerate(self._slots):
            # Wait instead of an action that has nowhere to stand; the published engine draws lots in every step until it does
            call = parse_call(slot.current or "")
            if slot.current and call is not None and call.name != "wait" and next_move(self.world, agent, slot.current) == Move():
                slot.current, slot.waited = _WAIT, 0
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

    def _decide(self, agent: int) -> Asking[None]:
        slot = self._slots[agent]
        if slot.current is not None:
            if not is_over(self.world, agent, slot.current, slot.waited):
                return
            slot.current = None
        if not slot.queue:
            yield from self._own_turn(agent)
        yield from self._start(agent, self._take(slot))

    def _own_turn(self, agent: int) -> Asking[None]:
        output = yield from self._ask(agent, "turn", agent, [])
        slot = self._slots[agent]
        if output.say != NOTHING and "[EMPTY]" not in output.say and self.agents.rounds != 0:
            output = yield from self._converse(agent, output)
        slot.queue = self._items(output.plan)

    def _take(self, slot: _Slot) -> str:
        """The next action of a queue. As published, one that follows a request stays in the queue and retains its leading blank."""
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

    def _start(self, agent: int, action: str) -> Asking[None]:
        """Put an action in force; a refused one is corrected, and if that does not help, waited away."""
        slot, refused = self._slots[agent], list[str]()
        message = refusal(self.world, agent, action)
        while message is not None and len(refused) < self.agents.corrections:
            slot.queue = []
            refused.append(message)
            errors = self._entry["statistical_data"]["error"][agent]["validator_error"]
            errors["error_num"] += 1
            errors["error_message"].append(message)
            self.refused.append((agent, action, message))
            output = yield from self._ask(agent, "validator", agent, [], f"Your action {action} raised an error: {message}")
            slot.queue = self._items(output.plan)
            action = self._take(slot)
            message = refusal(self.world, agent, action)
        if message is not None:
            slot.queue, action = [], _WAIT
        elif refused and self.agents.reflection:
            error = " ".join(message.strip() for message in refused)
            note = f"Refused in this timestep: {error}\nWhat worked in the end: {action}"
            text = yield prompts.Query(agent, "reflect", self.world, self._shown(agent, [], note), [], error)
            lesson = prompts.lesson_of(text)
            if lesson is not None:
                prompts.remember(self._slots[agent].lessons, prompts.Lesson(error, lesson))
                self._entry["content"]["reflection"][agent].append(lesson)
        slot.current, slot.waited = action, 0

    # -- conversations ----------------------------------------------------------------------------

    def _converse(self, opener: int, first: Fields) -> Asking[Fields]:
        """Let both speak until the opener ends it; gives the opener's last output."""
        messages = [(opener, first.say)]
        output = first
        for rounds in range(1, 1000):
            answer = yield from self._ask(1 - opener, "answer", opener, messages)
            repeated = _is_repeated(answer.say, 1 - opener, messages)
            messages.append((1 - opener, answer.say))
            partner = self._slots[1 - opener]
            if not partner.queue and not repeated:
                partner.queue = self._items(answer.plan)
            output = yield from self._ask(opener, "closing", opener, messages)
            ended = self._ends(output.say) or _is_repeated(output.say, opener, messages)
            messages.append((opener, output.say))
            if ended or (self.agents.rounds is not None and rounds >= self.agents.rounds):
                break
        self._entry["statistical_data"]["communication"][opener] = {"call": 1, "turn": [say for _, say in messages], "token": []}
        return output

    def _ends(self, say: str) -> bool:
        """Whether a say of the opener ends the conversation."""
        return say == NOTHING or ("[END]" in say if self.agents.ends_on_tag else "end" in say.lower())

    # -- queries ----------------------------------------------------------------------------------

    def _ask(
        self, agent: int, kind: prompts.QueryKind, owner: int, messages: Sequence[tuple[int, str]], error: str | None = None
    ) -> Asking[Fields]:
        """Ask a player, again if its output cannot be read, and log the message in the turn of its owner."""
        shown = self._shown(agent, messages, error)
        output = yield prompts.Query(agent, kind, self.world, shown, messages, error)
        fields = prompts.fields_read(output, AGENTS[agent])
        say = fields.say
        # how often an unreadable output is asked for again: as published once for each missing part
        missing = int(not fields.plan) + int(not fields.analysis)
        for _ in range(missing if self.agents.corrections <= 1 else self.agents.corrections):
            if fields.plan and fields.analysis:
                break
            statistics = self._entry["statistical_data"]
            errors = statistics["error"][agent]["format_error"]
            errors["error_num"] += 1
            errors["error_message"].append(output)
            statistics["error_correction"][agent]["format_correction"]["correction_num"] += 1
            output = yield prompts.Query(agent, "format", self.world, shown, messages, output)
            fields = prompts.fields_read(output, AGENTS[agent])
            say = fields.say if self.agents.keeps_new_say else say
        if kind in ("turn", "validator"):
            self._entry["content"]["observation"][agent] = shown
        self._entry["content"]["content"][owner].append({"agent": agent, "analysis": fields.analysis, "say": say, "plan": fields.plan})
        return Fields(fields.analysis, fields.plan, say)

    def _shown(self, agent: int, messages: Sequence[tuple[int, str]], error: str | None) -> str:
        slot = self._slots[agent]
        plans = [[*([one.current] if one.current else []), *one.queue] for one in self._slots]
        known = prompts.Remembered(slot.recorded, self.agents.memory, slot.lessons)
        lines = [f"{AGENTS[who]} say history turn {number} : {say}" for number, (who, say) in enumerate(messages, start=1)]
        return "\n".join([prompts.observation(self.world, agent, known, plans), *lines, *([error] if error else [])])


def _is_speech(item: str) -> bool:
    return any(word in item for word in _SPEECH)


def _is_repeated(say: str, agent: int, messages: Sequence[tuple[int, str]]) -> bool:
    """Whether an agent has written nearly the same before in this conversation; words replace the published embeddings."""
    return any(who == agent and _cosine(say, earlier) > _SAME for who, earlier in messages)


def _cosine(first: str, second: str) -> float:
    one, two = (Counter(re.findall(r"\w+", text.lower())) for text in (first, second))
    product = sum(count * two[word] for word, count in one.items())
    length = math.sqrt(sum(count**2 for count in one.values()) * sum(count**2 for count in two.values()))
    return product / length if length else 0.0
