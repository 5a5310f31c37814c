"""Collab-Overcooked's grammar as forms: a plan of own actions and requests, and what is said aloud."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from games.overcooked.engine.layout import AGENTS, DELIVERY, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout
from games.overcooked.engine.vocabulary import DELIVER, PLACE
from games.overcooked.text.grammar import NOTHING
from games.overcooked.text.reading import AgentInput
from games.players.forms import Form, Slot
from games.players.player import Observation

_COUNTER: Final = "counter"


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written to what is wanted: a lesson, or an answer with its three fields."""
    if seen.purpose == "reflect":
        return (Form("Write down the lesson", "Rethink: $lesson", (Slot("lesson", "at most 50 words, with a full stop"),)),)
    shown: AgentInput = seen.data
    return _answers(AGENTS.index(seen.agent), shown.layout, is_silent=seen.purpose == "validator")


@cache
def _answers(agent: int, layout: Layout, *, is_silent: bool) -> Sequence[Form]:
    role = AGENTS[agent]
    own = tuple(_actions(layout, agent))
    asked = tuple(_requests(layout, 1 - agent)) if agent == 0 and not is_silent else ()
    plan = Slot("plan", "plan", pieces=(*own, *asked), joined="; ", default="wait(1)")
    say = Slot("say", "say to your partner", default=NOTHING)
    thought = Slot("thought", "analysis; your partner does not read it", default=NOTHING)
    text = f"{role} analysis: $thought\n{role} plan: $plan\n{role} say: "
    return (Form("Answer", text + (NOTHING if is_silent else "$say"), (plan, thought) if is_silent else (plan, say, thought)),)


def _actions(layout: Layout, agent: int) -> Iterator[Form]:
    reach = layout.reach(agent)
    utensils = tuple(name for name in layout.utensils if name in reach)
    items = (*layout.items, DISH)
    places = (_COUNTER, *(name for name in (INGREDIENT_DISPENSER, DISH_DISPENSER, *layout.utensils) if name in reach))
    yield Form("Pick up", "pickup($item, $place)", (Slot("item", "what", items), Slot("place", "where", places)))
    yield Form("Put on a counter", PLACE)
    if utensils:
        yield Form("Put in a utensil", "put_obj_in_utensil($utensil)", (Slot("utensil", "utensil", utensils),))
    for name in utensils:
        operation = layout.utensils[name].operation
        yield Form(f"{operation.capitalize()}", f"{operation}({name})")
    if DELIVERY in reach:
        yield Form("Fill a dish", "fill_dish_with_food($utensil)", (Slot("utensil", "utensil", utensils),))
        yield Form("Deliver", DELIVER)
    yield Form("Wait", "wait($steps)", (Slot("steps", "timesteps", tuple(str(n) for n in range(1, layout.wait_limit + 1))),))


def _requests(layout: Layout, partner: int) -> Iterator[Form]:
    for form in _actions(layout, partner):
        yield form._replace(title=f"Request: {form.title.lower()}", text=f"request('{form.text}')")
