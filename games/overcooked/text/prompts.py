"""The two messages with which a language model plays an agent; their texts, in our own words, are in prompts.yaml."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from games.overcooked.engine.layout import AGENTS, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.lessons import lesson_of
from games.overcooked.query import Query
from games.overcooked.text.grammar import NOTHING, Fields, fields_of
from games.players.texts import texts_of
from schemas.replies import Reading, is_echo

PromptKind = Literal["full", "published"]
"""``full``: with names of products, walking time and the dropped wait, and the form of the answer last. ``published``: without them, the
state last, as the released code has it."""

INPUT = "<input>"
"""The line behind which the state stands."""


class PlayerPrompt(NamedTuple):
    """What a model is sent: no history, all that it may know is in here."""

    system: str
    user: str


def prompt_for(query: Query, recipe: str | None = None, prompt: PromptKind = "full") -> PlayerPrompt:
    """Write the messages for a query; they hold what the agent may know and nothing else of the true state.

    Args:
        query: what is asked.
        recipe: what the Chef reads; None: the order's recipe.
        prompt: which of the two forms.
    """
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
    told = [text for part in parts if (text := part.format(**slots).strip())]
    last = f"\n\n{texts['forms']['full'][form].format(**slots).strip()}" if is_full else ""
    return PlayerPrompt(texts["system"].strip(), "\n\n".join(told) + f"\n\n{INPUT}\n{query.text}{last}")


def fields_read(output: str, role: str) -> Fields:
    """Take the fields out of an output; one that repeats the plan or the say of its prompt's example has none."""
    fields = fields_of(output, role)
    examples = _examples(role)
    echoed = is_echo(fields.plan, (one.plan for one in examples)) or is_echo(fields.say, (one.say for one in examples))
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
    """An example of each way in which something made of one thing is called, by utensil; of orders none, so that no recipe is told."""
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
    dispensers = [name for name in (INGREDIENT_DISPENSER, DISH_DISPENSER) if name in layout.reach(agent)]
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
    return ", ".join([*sorted(layout.reach(agent)), "the shared counters"])
