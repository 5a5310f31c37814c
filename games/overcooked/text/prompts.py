"""The two messages with which a language model plays an agent; their texts, in our own words, are in prompts.yaml."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from games.overcooked.engine.layout import AGENTS, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.query import Query
from games.overcooked.text.grammar import fields_of
from games.players.texts import texts_of

__all__ = ["INPUT", "PlayerPrompt", "prompt_for"]

INPUT = "<input>"
"""The line behind which the state stands."""


class PlayerPrompt(NamedTuple):
    """What a model is sent: no history, all that it may know is in here."""

    system: str
    user: str


def prompt_for(query: Query, recipe: str | None = None) -> PlayerPrompt:
    """Write the messages for a query; they hold what the agent may know and nothing else of the true state.

    Args:
        query: what is asked.
        recipe: what the Chef reads; None: the order's recipe.
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
    }
    form = {"validator": "silent", "reflect": "lesson"}.get(query.kind, "output")
    parts = [
        texts["rules"],
        texts["role"][role],
        texts["recipe"][role],
        texts["skills"],
        texts["partner"][role],
        texts["input"],
        texts[form],
        texts["kinds"][query.kind],
    ]
    told = [text for part in parts if (text := part.format(**slots).strip())]
    return PlayerPrompt(texts["system"].strip(), "\n\n".join(told) + f"\n\n{INPUT}\n{query.text}")


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
