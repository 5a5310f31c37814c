"""Scripted players: one that plays well, and one for every fault of the specification (formats/overcooked.md, section 12)."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import AGENTS, INGREDIENT_DISPENSER, PLACE, Layout, kitchen
from games.overcooked.engine.references import ReferencePair, published_references
from games.overcooked.engine.world import World
from games.overcooked.measures import d_max, repaired
from games.overcooked.text.prompts import Query
from games.overcooked.text.replies import NOTHING
from games.players.setup import Onset, onset_of, unmended


class Chunk(NamedTuple):
    """What the Assistant does for one request: it ends with something on a counter."""

    actions: tuple[str, ...]

    @property
    def pickups(self) -> list[tuple[str, ...]]:
        """Object and place of each thing that is fetched."""
        return [call.arguments for action in self.actions if (call := parse_call(action)) is not None and call.name == "pickup"]

    @property
    def item(self) -> str:
        """What is put on the counter."""
        return self.pickups[-1][0]


@dataclass(slots=True)
class Script:
    """The plan of one game and how far it is. The partner learns a request from here, as if it had understood the say."""

    order: str
    layout: Layout
    pair: ReferencePair
    chunks: tuple[Chunk, ...]
    asked: list[Chunk] = field(default_factory=list)
    """Requests in order, wrong ones included; the last one is what the Assistant is working on."""
    intended: Chunk | None = None
    """The hand-over that the last request was about; None if the request was wrong."""
    open_work: list[str] = field(default_factory=list)
    """Actions that the Assistant has accepted and not yet put into a plan."""
    places_due: int = 0
    """How often the Assistant will have put something down, of all the game, when it has done what it has accepted."""
    served: set[int] = field(default_factory=set)
    """Which chunks have been asked for rightly, by their place."""
    chef_done: int = 0
    """The Chef's reference actions that are behind it."""

    @classmethod
    def of(cls, order: str, layout: Layout | None = None) -> "Script":
        """Give the plan that follows the first published reference."""
        pair = published_references(order, layout)[0]
        found: list[Chunk] = []
        open_chunk: list[str] = []
        for action in pair.assistant:
            open_chunk.append(action)
            if action == PLACE:
                found.append(Chunk(tuple(open_chunk)))
                open_chunk = []
        return cls(order, layout or kitchen(), pair, tuple(found))

    @property
    def next_chunk(self) -> int | None:
        """The first chunk that has not been asked for."""
        return next((place for place in range(len(self.chunks)) if place not in self.served), None)

    def accept(self, work: Sequence[str], so_far: Sequence[str]) -> None:
        """Give the Assistant work; ``so_far`` are its actions up to now."""
        self.open_work = list(work)
        self.places_due = so_far.count(PLACE) + self.open_work.count(PLACE)

    def unfinished(self, world: World, chef_actions: Sequence[str]) -> list[str]:
        """What the Assistant still has to do for the hand-over it was asked for; nothing if its item has been put on a counter."""
        chunk, held = self.intended, world.bodies[1].held
        if chunk is None or chunk.item in world.counters.values() or f"pickup({chunk.item},counter)" in chef_actions:
            return []
        if held == chunk.item:
            return [PLACE]
        if held is not None and held != chunk.pickups[0][0]:
            return [PLACE, *chunk.actions]
        start = int(held is not None)
        for place, action in enumerate(chunk.actions):
            name, _, inside = action.rstrip(")").partition("(")
            pot = world.utensils.get(inside.rpartition(",")[2])
            if pot is None:
                continue
            if (name == "pickup" and pot.product == chunk.item) or (name not in ("pickup", "put_obj_in_utensil") and not pot.timer):
                start = place
        return list(chunk.actions[start:])

    def foreign_item(self) -> str | None:
        """A raw ingredient that the order does not take; None where the kitchen has no other."""
        used = " ".join((*self.pair.chef, *self.pair.assistant))
        return next((item for item in self.layout.ingredients if item not in used), None)

    def can_begin(self, world: World, chunk: Chunk) -> bool:
        """Whether what a chunk begins with is there."""
        item, place = chunk.pickups[0]
        return place != "counter" or item in world.counters.values()

    def chef_next(self, world: World) -> list[str]:
        """The Chef's next actions that can be done on the present state without waiting for anything; empty if it has to wait."""
        rest = self.pair.chef[self.chef_done :]
        found: list[str] = []
        available = list(world.counters.values())
        for action in rest:
            if action.startswith("pickup("):
                item, _, place = action[len("pickup(") : -1].partition(",")
                there = item in available if place == "counter" else world.ready(place) and not found
                if not there:
                    break
            found.append(action)
            if self.layout.is_operation(action):
                break
        return found


def call_words(action: str) -> str:
    """Say an action in words."""
    name, _, inside = action.rstrip(")").partition("(")
    arguments = [argument.replace("_", " ") for argument in inside.split(",") if argument]
    if name == "pickup":
        return f"pick up {arguments[0]} from the {arguments[1]}"
    if name == "put_obj_in_utensil":
        return f"put it into the {arguments[0]}"
    if action == PLACE:
        return "place it on the counter"
    return " ".join([name.replace("_", " "), *(f"with the {argument}" for argument in arguments)])


FAULTLESS: Final = "optimal"
PLANTED_FAULT: Final = "planted_fault"
"""Rubric of labels that say in which turns a planted fault shows."""

Recorded = Callable[[int], Sequence[str]]
"""An agent's actions so far, without blanks."""


@dataclass(frozen=True, slots=True)
class PlantedAnswer:
    """What a player meant: a fault that is known to be there, or that there is none."""

    timestep: int
    agent: int
    question: str
    """``IC1`` for a request, ``RC1`` for an answer (rubrics overcooked_initiating, overcooked_responding), ``fault`` where one shows."""
    answer: str

    @property
    def rubric(self) -> str:
        """Of the question."""
        return {"IC1": "overcooked_initiating", "RC1": "overcooked_responding"}.get(self.question, PLANTED_FAULT)


@dataclass(frozen=True, slots=True)
class Policy:
    """How a team plays."""

    summary: str
    request: str | None = None
    """Fault of the Chef's second request (of its only one, where the order takes one)."""
    reply: str | None = None
    """Fault of the Assistant's first answer."""
    pauses: int = 0
    """Needless waits before the Chef's actions."""
    silent: bool = False
    breaks_format: bool = False


POLICIES: Final[Mapping[str, Policy]] = {
    "optimal": Policy("follows a reference, one request for each hand-over"),
    "slow": Policy("right order, needless waits", pauses=3),
    "wrong-ingredient": Policy("one request names an ingredient that the order does not take", request="wrong_parameter"),
    "premature-request": Policy("asks for a later hand-over first", request="premature"),
    "repetitive-request": Policy("asks again for what has been brought", request="repetitive"),
    "irrelevant-request": Policy("asks for what the order has nothing to do with", request="irrelevant"),
    "infeasible-request": Policy("asks the Assistant to use what only the Chef reaches", request="infeasible"),
    "missing-step-request": Policy("a request leaves a necessary action out", request="missing_step"),
    "bad-responder-param": Policy("the first answer misspells a place", reply="wrong_parameter"),
    "bad-responder-skip": Policy("the first answer leaves an action out", reply="missing_step"),
    "bad-responder-short": Policy("the first answer has the first action only", reply="short"),
    "bad-responder-other": Policy("the first answer fetches something else", reply="other"),
    "bad-responder-foreign": Policy("the first answer begins with an action of the Chef's", reply="infeasible"),
    "bad-responder-refuse": Policy("the first answer refuses", reply="refused"),
    "format-breaker": Policy("answers that cannot be read, corrected when asked", breaks_format=True),
    "silent": Policy("the Chef never speaks, the Assistant works on its own", silent=True),
}


@dataclass(slots=True)
class ScriptedPlayer:
    """One of two players of a team; both share a script."""

    agent: int
    onset: Onset
    script: Script
    recorded: Recorded
    rng: random.Random
    planted: list[PlantedAnswer]
    policy: Policy = field(default_factory=lambda: POLICIES[FAULTLESS])
    """How it plays now."""
    queries: int = 0
    requests: int = 0
    faulty: bool = False
    """The fault has been committed."""
    paused: bool = False
    """The last answer was a needless wait."""
    idle: int = 0
    """Own turns in a row without anything to do."""
    spoilt: tuple[list[str], str, str] | None = None
    """What a broken output should have been: plan, say, thought."""

    def answer(self, query: Query) -> str:
        """Give an output with its three fields; the format breaker spoils every fourth one and fixes it when asked."""
        self.queries += 1
        self.policy = POLICIES[self.onset.at(query.world.timestep + 1, FAULTLESS)]
        self.script.chef_done = d_max(repaired(self.recorded(0)), self.script.pair.chef)
        if query.kind == "format" and self.spoilt is not None:
            plan, say, thought = self.spoilt
            return _output(self.agent, thought, plan, say)
        plan, say, thought = self._chef(query) if self.agent == 0 else self._assistant(query)
        if self.policy.breaks_format and query.kind == "turn" and self.queries % _SPOILT_EVERY == 1:
            self.spoilt = plan, say, thought
            self._show(query, "format")
            # an output without analysis, without plan, or without both
            role = AGENTS[self.agent]
            kinds = (
                f"{role} plan: {';'.join(plan)}\n{role} say: {say}",
                f"{role} analysis: I will go on.\n{role} say: {say}",
                f"I will go on with the next action.\n{role} say: {say}",
            )
            return kinds[self.queries // _SPOILT_EVERY % len(kinds)]
        return _output(self.agent, thought, plan, say)

    def _show(self, query: Query, fault: str) -> None:
        self.planted.append(PlantedAnswer(query.world.timestep, self.agent, "fault", fault))

    # -- the Chef ---------------------------------------------------------------------------------

    def _chef(self, query: Query) -> tuple[list[str], str, str]:
        own = self.script.chef_next(query.world)
        if query.kind == "closing":
            return own or ["wait(1)"], "Good. [END]", "The Assistant knows what to do; I go on with my own part."
        if query.kind == "answer":
            return own or ["wait(1)"], "Wait, please, I will ask you when I need something.", "The Assistant asks what to do."
        wanted = None if query.kind == "validator" else self._next_request(query)
        if wanted is not None and self.policy.silent:
            self._show(query, "silence")
        elif wanted is not None:
            return self._request(query, wanted)
        if not own:
            return ["wait(1)"], NOTHING, "What I need is not there yet, so I wait."
        self.paused = bool(self.policy.pauses) and not self.paused
        if self.paused:
            self._show(query, "pause")
            return [f"wait({self.policy.pauses})"], NOTHING, "I will take my time."
        return own, NOTHING, "I have what I need for the next actions."

    def _next_request(self, query: Query) -> Chunk | None:
        """The next hand-over, if the Assistant is free and what it begins with is there."""
        place = self.script.next_chunk
        if self.script.open_work or place is None or query.world.bodies[1].held is not None:
            return None
        chunk = self.script.chunks[place]
        free = len(query.world.layout.shared_counters) - len(query.world.counters)
        idle = self.recorded(1).count(PLACE) >= self.script.places_due and not self.script.unfinished(query.world, self.recorded(0))
        return chunk if free > 0 and idle and self.script.can_begin(query.world, chunk) else None

    def _request(self, query: Query, chunk: Chunk) -> tuple[list[str], str, str]:
        self.requests += 1
        fault = self._fault()
        wrong = _wrong_request(fault, self.script, chunk) if fault else None
        if wrong is None:
            fault, asked = None, chunk
            self.script.served.add(self.script.chunks.index(chunk))
        else:
            asked = wrong
            self.faulty = True
            self._show(query, fault or "")
            if wrong in self.script.chunks and fault == "premature":
                self.script.served.add(self.script.chunks.index(wrong))
            if fault == "missing_step":
                self.script.served.add(self.script.chunks.index(chunk))
        self.planted.append(PlantedAnswer(query.world.timestep, 0, "IC1", fault or "correct"))
        self.script.asked.append(asked)
        self.script.intended = chunk if wrong is None or fault == "missing_step" else None
        if fault == "premature" and asked in self.script.chunks:
            self.script.intended = asked
        plan = [f"request('{action}')" for action in asked.actions]
        thought = "I cannot reach what comes next, so I ask the Assistant for it."
        return plan, f"Please {', then '.join(map(call_words, asked.actions))}.", thought

    def _fault(self) -> str | None:
        """The fault that is due: at the second request, or at the first where there is only one."""
        first = min(2, len(self.script.chunks))
        if self.policy.request == "repetitive" and len(self.script.chunks) == 1:
            return None
        return self.policy.request if not self.faulty and self.requests >= first else None

    # -- the Assistant ----------------------------------------------------------------------------

    def _assistant(self, query: Query) -> tuple[list[str], str, str]:
        if query.kind == "answer":
            asked = self.script.asked[-1].actions
            fault = self.policy.reply if not self.faulty and len(asked) > 1 else None
            if fault == "other" and self.script.foreign_item() is None:
                fault = None
            plan = list(asked)
            if fault is not None:
                self.faulty = True
                self._show(query, fault)
                plan = self._faulty_reply(fault, plan)
            request = next((found.answer for found in reversed(self.planted) if found.question == "IC1"), "correct")
            asked_wrongly = self.script.intended is None or request not in ("correct", "missing_step")
            name = "followed_wrong_request" if asked_wrongly and fault is None else _REPLY_NAMES.get(fault or "", fault) or "correct"
            self.planted.append(PlantedAnswer(query.world.timestep, 1, "RC1", name))
            self.script.accept(plan, self.recorded(1))
            if fault == "refused":
                # nothing comes of the last request: it has to be made again
                last = self.script.asked[-1]
                self.script.served = {place for place in self.script.served if self.script.chunks[place] != last}
                self.script.accept((), self.recorded(1))
                self.script.intended = None
                return ["wait(1)"], "No, I am busy.", "I do not want to."
            return self._work(query), "Sure, I will do that.", "The Chef asked me for something in my half of the kitchen."
        if query.kind == "validator":
            self.script.accept(self._corrected(query), self.recorded(1))
        if self.policy.silent and not self.script.open_work:
            self._serve_itself(query)
        self.idle = 0 if self.script.open_work else self.idle + 1
        if self.idle > _PATIENCE and not query.world.bodies[0].held:
            self.script.accept(self._corrected(query), self.recorded(1))
        thought = "I go on with what I have been asked for." if self.script.open_work else "There is nothing to do."
        return self._work(query), NOTHING, thought

    def _faulty_reply(self, fault: str, plan: list[str]) -> list[str]:
        if fault == "wrong_parameter":
            return [plan[0].replace("ingredient_dispenser", "dispenser").replace("dish_dispenser", "dispenser"), *plan[1:]]
        if fault == "missing_step":
            return [plan[0], *plan[2:]] if len(plan) > 2 else plan[1:]  # noqa: PLR2004 - something is left out of the middle
        if fault == "short":
            return plan[:1]
        if fault == "other":
            return [f"pickup({self.script.foreign_item()},{INGREDIENT_DISPENSER})", PLACE]
        if fault == "infeasible":
            # what the Assistant cannot do
            utensil = self.script.layout.utensils_of(0)[-1]
            return [f"{utensil.operation}({utensil.name})", *plan]
        return []

    def _corrected(self, query: Query) -> list[str]:
        """What is left to do after a mistake: the rest of a right request; of a wrong one, only to put down what is in the hand."""
        rest = self.script.unfinished(query.world, self.recorded(0))
        if rest or self.script.intended is not None:
            return rest
        return [PLACE] if query.world.bodies[1].held else []

    def _serve_itself(self, query: Query) -> None:
        place = self.script.next_chunk
        free = len(query.world.layout.shared_counters) - len(query.world.counters)
        if place is None or free < 1 or not self.script.can_begin(query.world, self.script.chunks[place]):
            return
        self.script.served.add(place)
        self.script.intended = self.script.chunks[place]
        self.script.asked.append(self.script.chunks[place])
        self.script.accept(self.script.chunks[place].actions, self.recorded(1))

    def _work(self, query: Query) -> list[str]:
        """The next actions up to an operation, which takes time."""
        work = self.script.open_work
        if not work:
            return ["wait(1)"]
        if work[0].startswith("pickup(") and any(
            query.world.running(name) for name in query.world.layout.reaches[1] if f",{name})" in work[0]
        ):
            return ["wait(1)"]
        stop = next((place for place, action in enumerate(work) if self.script.layout.is_operation(action)), len(work) - 1)
        plan, self.script.open_work = work[: stop + 1], work[stop + 1 :]
        return plan


def _wrong_request(fault: str, script: Script, chunk: Chunk) -> Chunk | None:
    """The request with a fault in place of that for a chunk; None if this hand-over gives no occasion for it."""
    actions, place, here = chunk.actions, chunk.pickups[0][1], script.chunks.index(chunk)
    item, utensil = script.foreign_item(), script.layout.utensils_of(0)[0]
    foreign = Chunk((f"pickup({item},{INGREDIENT_DISPENSER})", PLACE)) if item else None
    later, earlier = (
        [other for other in others if other.pickups[0][1] != "counter"] for others in (script.chunks[here + 1 :], script.chunks[:here])
    )
    tail = Chunk(actions[-2:] if len(actions) > 2 else actions[-1:])  # noqa: PLR2004 - take and place, or place alone
    dish = Chunk(("pickup(dish,counter)", PLACE)) if place == INGREDIENT_DISPENSER else None
    found: Mapping[str, Chunk | None] = {
        "wrong_parameter": foreign if place == INGREDIENT_DISPENSER else None,
        "premature": later[-1] if later else tail,  # the last hand-over that needs nothing of the Chef's
        "repetitive": earlier[0] if earlier else None,
        "infeasible": Chunk((f"{utensil.operation}({utensil.name})",)),
        "missing_step": Chunk((*actions[:2], *actions[3:])) if len(actions) > 3 else None,  # noqa: PLR2004 - without its operation
        "irrelevant": foreign if place == "counter" else dish,
    }
    return found[fault]


_SPOILT_EVERY: Final = 4
_PATIENCE: Final = 3
"""Own turns without work after which the Assistant looks whether it has left something undone."""

_REPLY_NAMES: Final = {"short": "missing_step", "other": "wrong_parameter"}


def scripted_pair(
    policies: tuple[str, str], order: str, recorded: Recorded, seed: int, layout: Layout | None = None
) -> tuple[ScriptedPlayer, ScriptedPlayer, list[PlantedAnswer]]:
    """Make a team that shares a script, each `policy` or `policy@turn`; the list fills with what it plants.

    Raises:
        UsageError: no such policy; names those there are.
    """
    onsets = [onset_of(policy, POLICIES, "overcooked policy") for policy in policies]
    script, planted = Script.of(order, layout), list[PlantedAnswer]()
    rng = random.Random(f"overcooked:{'+'.join(unmended(policy) for policy in dict.fromkeys(policies))}:{order}:{seed}")
    chef, assistant = (ScriptedPlayer(agent, onset, script, recorded, rng, planted) for agent, onset in enumerate(onsets))
    return chef, assistant, planted


def _output(agent: int, thought: str, plan: Sequence[str], say: str) -> str:
    role = AGENTS[agent]
    return f"{role} analysis: {thought}\n{role} plan: {';'.join(plan)}\n{role} say: {say}"
