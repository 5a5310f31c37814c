"""What an agent is asked: the switches of the agents, the state text, lessons, and the two messages that a language model gets.

Sources: agents of the two, section 1; formats/overcooked.md, section 4 (the state text, which logs store as `observation`). The texts of
the messages, in our own words, are in prompts.yaml.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from games.overcooked.engine.layout import AGENTS, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.engine.world import World
from games.overcooked.text.replies import NOTHING, Fields, fields_of
from games.players.player import texts_of
from games.settings import Settings
from schemas.replies import Reading, is_blank, is_echo

Memory = Literal["last", "all", "none"]
"""``last``: the own last four actions, or five where there are no more; ``all``: all of them; ``none``: nothing."""


class AgentRules(Settings):
    """The switches of the agents; all of them are conditions of a run."""

    corrections: int = Field(default=1, ge=0)
    """How often a refused action is corrected before the agent waits instead; above 1 also how often an unreadable output is."""
    rounds: int | None = Field(default=None, ge=0)
    """Answers of the partner after which a conversation is over; None: no maximum; 0: no one is heard."""
    memory: Memory = "last"
    reflection: bool = False
    """After a corrected refusal the agent writes a lesson; the last three are shown."""
    ends_on_tag: bool = False
    """A conversation ends with ``[END]`` alone; as published the letters "end" inside any word do."""
    keeps_new_say: bool = False
    """The message of a corrected output counts; as published that of the unreadable one does."""


AGENT_RULES: Final[Mapping[str, AgentRules]] = {
    "published": AgentRules(),
    "paper": AgentRules(corrections=3, rounds=5, memory="all", reflection=True, ends_on_tag=True, keeps_new_say=True),
}
"""As the released code plays, and as the paper describes it; the paper names no numbers for its maxima, these are ours."""


QueryKind = Literal["turn", "answer", "closing", "format", "validator", "reflect"]
"""Own turn; answer to the partner; the opener's next message; retry after an unreadable output; retry after a refused action; the lesson
of a corrected one."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a player is asked."""

    agent: int
    kind: QueryKind
    world: World
    """The true state; players that only read `text` do not see it."""
    text: str
    """The state text, with conversation and error where there are any."""
    messages: Sequence[tuple[int, str]]
    """The conversation so far: speaker and say."""
    error: str | None
    """The refusal, or the output that could not be read."""


SHOWN: Final = 3
"""How many of the last lessons an agent is shown."""


class Lesson(NamedTuple):
    """What went wrong, and what to watch."""

    error: str
    text: str


def lesson_of(text: str) -> str | None:
    """Read an answer: what follows `Rethink:` up to the first full stop; None without such a sentence."""
    found = re.search(r"Rethink:\s*(.*?\.)", text, re.DOTALL)
    return found[1].strip() if found else None


def remember(lessons: list[Lesson], new: Lesson) -> None:
    """Keep a lesson: with the lesson of an error that holds this one, if there is one."""
    for place, known in enumerate(lessons):
        if new.error in known.error:
            lessons[place] = Lesson(known.error, f"{known.text} {new.text}")
            return
    lessons.append(new)


_SHOWN_WHOLE: Final = 5
_SHOWN_LAST: Final = 4
_STATIC_FOOD: Final = "chopped_onion"
"""What is cooking by the published text, whatever is."""


class Remembered(NamedTuple):
    """What an agent knows of its own past."""

    recorded: Sequence[dict[str, object]]
    """Its recorded actions, ``timestamp`` and ``action``."""
    memory: Memory = "last"
    lessons: Sequence[Lesson] = ()

    @property
    def shown(self) -> list[dict[str, object]]:
        """The actions that its memory holds."""
        if self.memory == "none":
            return []
        whole = self.memory == "all" or len(self.recorded) <= _SHOWN_WHOLE
        return list(self.recorded) if whole else list(self.recorded[-_SHOWN_LAST:])

    @property
    def lines(self) -> list[str]:
        """Its last lessons, numbered; as published an empty list in brackets where there are none."""
        last = self.lessons[-SHOWN:]
        return [f"{number}. {lesson.text}" for number, lesson in enumerate(last, start=1)] or ["[]"]


def observation(world: World, agent: int, known: Remembered, plans: Sequence[Sequence[str]]) -> str:
    """Write what an agent sees; `plans` are, by agent, the planned actions that are still to be done."""
    order = (agent, 1 - agent)
    holding = " ".join(
        f"<{AGENTS[who]}> holds {_hand(world, who)} The planned sequence of actions (yet to be performed) for {AGENTS[who]} is "
        f"[{', '.join(plans[who])}]"
        for who in order
    )
    layout, spaces = world.layout, [[utensil.name for utensil in world.layout.utensils_of(agent)] for agent in (0, 1)]
    named = [name for at, name in sorted(layout.fixtures.items(), key=lambda item: item[0][::-1]) if name in layout.utensils]
    utensils = " ".join(f"<{name}> {_utensil(world, name)};" for name in named)
    counters = len(world.layout.shared_counters)
    scene = (
        f"Scene {world.timestep}: {holding} Kitchen states: {utensils} {counters} counters can be visited by <{AGENTS[agent]}>. "
        f"Their states are as follows: {_counters(world)}"
    )
    lines = [
        f"Successful Action History: {known.shown}",
        "Lessons from Past Failures",
        *known.lines,
        f"Chef space:{'  '.join([*spaces[0], 'counter'])} ",
        f"Assistant space:{'  '.join([*spaces[1], DISH_DISPENSER, INGREDIENT_DISPENSER])}",
        f"Order:{world.order}",
        scene,
        *world.notices,
    ]
    return "\n".join(lines) + "\n"


def _hand(world: World, agent: int) -> str:
    held = world.bodies[agent].held
    if held is None:
        return "nothing."
    if held == world.order and world.layout.needs_dish[held]:
        return f"a dish with {held} and needs to deliver it."
    return f"one {held}."


def _utensil(world: World, name: str) -> str:
    pot = world.utensils.get(name)
    if pot is None:
        return "is empty"
    if world.ready(name):
        return f"has {pot.product}"
    if pot.timer:
        left = world.layout.cook_time - pot.timer
        food = _STATIC_FOOD if world.rules == "published" else pot.product
        return f"starts processing {food},it will be ready after {left} timesteps"
    items = " ".join(pot.contents)
    for product, inputs in world.layout.utensils[name].makes.items():
        complete = inputs == pot.contents if world.rules == "published" else sorted(inputs) == sorted(pot.contents)
        if complete:
            return f"has {items}, which are all the ingredients you need to make {product}"
    for product, inputs in world.layout.utensils[name].makes.items():
        if set(pot.contents) < set(inputs) and len(set(pot.contents)) == len(pot.contents):
            return f"has {items}, which is part of {product}"
    return f"has {items},which seems do not belong to any recipe"


def _counters(world: World) -> str:
    held = Counter(world.counters.get(at) for at in sorted(world.layout.shared_counters))
    if len(held) == 1 and (world.rules == "published" or None in held):
        return "counters have nothing."
    return " ".join(f"{count} counters have {item} which you can pick it up." for item, count in held.items() if item is not None)


PromptKind = Literal["full", "published"]
"""``full``: with names of products, walking time and the dropped wait, and the form of the answer last. ``published``: without them, the
state last, as the released code has it."""

INPUT = "<input>"
"""The line after which the state begins."""


class PlayerPrompt(NamedTuple):
    """What a model is sent: no history, all that it may know is in here."""

    system: str
    user: str


def prompt_for(query: Query, recipe: str | None = None, prompt: PromptKind = "full") -> PlayerPrompt:
    """Write the messages for a query; they hold what the agent may know, such as the order's recipe, and nothing else of the true state."""
    texts, layout, role = texts_of(__package__), query.world.layout, AGENTS[query.agent]
    slots = {
        "role": role,
        "partner": AGENTS[1 - query.agent],
        "counters": len(layout.shared_counters),
        "chef": _reached(layout, 0),
        "assistant": _reached(layout, 1),
        "cook": layout.cook_time,
        "capacity": layout.utensil_capacity,
        "own": "\n".join(f"- {line}" for line in _own_actions(texts["actions"][role], layout, query.agent)),
        "partner_verbs": "".join(f"{verb}, " for verb in _verbs(layout, 1 - query.agent)),
        "recipe": recipe or recipe_text(query.world.order, layout),
        "error": query.error,
        "missing": _missing(query, texts),
        "names": "".join(f"{', for instance: ' if place == 0 else '; '}{name}" for place, name in enumerate(_product_names(layout))),
        "dropped": texts["dropped"] if query.world.rules == "published" else "",
    }
    form = {"validator": "silent", "reflect": "lesson"}.get(query.kind, "output")
    is_full = prompt == "full"
    parts = [
        texts["rules"],
        texts["facts"] if is_full else "",
        texts["role"][role],
        texts["recipe"][role],
        texts["skills"],
        texts["partner"][role],
        texts["input"],
        "" if is_full else texts["forms"]["published"][form],
        texts["kinds"][query.kind],
    ]
    texts_shown = [text for part in parts if (text := part.format(**slots).strip())]
    last = f"\n\n{texts['forms']['full'][form].format(**slots).strip()}" if is_full else ""
    return PlayerPrompt(texts["system"].strip(), "\n\n".join(texts_shown) + f"\n\n{INPUT}\n{query.text}{last}")


def fields_read(output: str, role: str) -> Fields:
    """Take the fields out of an output; it has none if it repeats plan or say of its prompt's example, or leaves the plan unfilled."""
    fields = fields_of(output, role)
    examples = _examples(role)
    unfilled = bool(fields.plan) and is_blank(fields.plan.partition(":")[2])
    echoed = unfilled or is_echo(fields.plan, (one.plan for one in examples)) or is_echo(fields.say, (one.say for one in examples))
    fields = fields._replace(say=NOTHING) if is_blank(fields.say) else fields
    return Fields("", "", NOTHING) if echoed else fields


def reply_reading(kind: str, role: str, output: str) -> Reading:
    """How an output is read: what is before its first field does not count, and without a plan nothing comes of it."""
    if kind == "reflect":
        lesson = lesson_of(output)
        echoed = lesson is None or is_echo(lesson, [str(lesson_of(texts_of(__package__)["forms"]["full"]["lesson"]))])
        return Reading("unreadable") if echoed else Reading("as asked")
    fields = fields_read(output, role)
    if not fields.plan:
        return Reading("unreadable")
    whole = fields.analysis and output.lstrip().startswith(f"{role} analysis")
    return Reading("as asked") if whole else Reading("repaired", f"{fields.plan}\n{role} say: {fields.say}")


@cache
def _examples(role: str) -> tuple[Fields, ...]:
    """The outputs that prompts show."""
    forms = texts_of(__package__)["forms"]["full"]
    return tuple(fields_of(forms[form].format(role=role), role) for form in ("output", "silent"))


def _product_names(layout: Layout) -> Iterator[str]:
    """An example of each way in which something made of one thing is called, by utensil; of orders none, so that no recipe is revealed."""
    shown = set[tuple[str, ...]]()
    for utensil in layout.utensils.values():
        for product, inputs in utensil.makes.items():
            base = next((raw for raw in sorted(layout.ingredients, key=len, reverse=True) if raw in inputs[0] and raw in product), None)
            kind = (utensil.name, *(name.replace(base or name, "*") for name in (inputs[0], product)))
            if len(inputs) == 1 and base is not None and product not in layout.needs_dish and kind not in shown:
                shown.add(kind)
                yield f"{inputs[0]} becomes {product} on {utensil.name}"


def _missing(query: Query, texts: dict[str, Any]) -> str:
    if query.kind != "format":
        return ""
    fields = fields_of(query.error or "", AGENTS[query.agent])
    part = "both" if not fields.plan and not fields.analysis else "analysis" if fields.plan else "plan"
    return str(texts["missing"][part])


def _own_actions(lines: Sequence[str], layout: Layout, agent: int) -> Iterator[str]:
    """An agent's actions with its own places; those of utensils only where it has any."""
    utensils = layout.utensils_of(agent)
    names = [utensil.name for utensil in utensils]
    dispensers = [name for name in (INGREDIENT_DISPENSER, DISH_DISPENSER) if name in layout.reaches[agent]]
    slots = {
        "wait": layout.wait_limit,
        "places": _either(["counter", *dispensers, *names]),
        "utensils": _either(names),
        "operations": ", ".join(f"{utensil.operation}({utensil.name})" for utensil in utensils),
    }
    for line in lines:
        if names or not ("{utensils}" in line or "{operations}" in line):
            yield line.format(**slots)


def _verbs(layout: Layout, agent: int) -> list[str]:
    operations = [utensil.operation for utensil in layout.utensils_of(agent)]
    return ["put_obj_in_utensil", *dict.fromkeys(operations)] if operations else []


def _either(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _reached(layout: Layout, agent: int) -> str:
    return ", ".join([*sorted(layout.reaches[agent]), "the shared counters"])
