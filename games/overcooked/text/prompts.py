"""The two messages with which a language model plays an agent (after formats/overcooked.md, section 4; the wording is ours)."""

from collections.abc import Callable
from typing import Final, NamedTuple

from games.overcooked.engine.layout import AGENTS, Layout
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.game import Query

__all__ = ["ModelPlayer", "Prompt", "prompt_for"]

_SYSTEM: Final = "You play one of two agents who cook an order together in a small kitchen."

_RULES: Final = """\
The Chef and the Assistant work in two halves of a kitchen and never meet. The only way from one half to the other is a column of
three counters. Everybody holds at most one thing, and a counter holds at most one. A utensil takes up to three things and turns them
into another when its operation is started; that takes three timesteps. Contents that fit no recipe are thrown away. The order has to
be delivered in time.
The Chef reaches {chef}. The Assistant reaches {assistant}."""

_SKILLS: Final = {
    0: """\
pickup(object, place): place is counter, pot0 or oven0
place_obj_on_counter()
put_obj_in_utensil(utensil)
cook(pot0), bake(oven0)
fill_dish_with_food(utensil): with a dish in the hand; only for orders that are served on one
deliver_soup()
wait(n): at most {wait} timesteps""",
    1: """\
pickup(object, place): place is counter, ingredient_dispenser, dish_dispenser, chopping_board0 or blender0
place_obj_on_counter()
put_obj_in_utensil(utensil)
cut(chopping_board0), stir(blender0)
wait(n): at most {wait} timesteps""",
}

_OUTPUT: Final = """\
Answer in exactly three fields, each beginning on a line of its own:
{role} analysis: what you conclude from the state
{role} plan: actions in order, separated by ';', in one line; ask the partner for an action by request('action(...)'), one action a request
{role} say: what you tell the partner, who sees neither analysis nor plan; [NOTHING] if there is nothing to say; [END] to end a talk"""


class Prompt(NamedTuple):
    """What a model is sent: no history, all that it may know is in here."""

    system: str
    user: str


def prompt_for(query: Query) -> Prompt:
    """Write the messages for a query; they hold what the agent may know and nothing else of the true state."""
    layout, role = query.world.layout, AGENTS[query.agent]
    recipe = recipe_text(query.world.order, layout) if query.agent == 0 else "You have no recipe: only the Chef has."
    parts = [
        _RULES.format(chef=_reached(layout, 0), assistant=_reached(layout, 1)),
        f"You are the {role}.",
        recipe,
        "Your actions:\n" + _SKILLS[query.agent].format(wait=layout.wait_limit),
        _OUTPUT.format(role=role),
    ]
    if query.kind == "format":
        parts.append(f"Your last output could not be read. Write it again in the three fields. It was:\n{query.error}")
    if query.kind == "validator":
        parts.append("Your last action was refused, see below. Correct it on your own, and say [NOTHING].")
    return Prompt(_SYSTEM, "\n\n".join(parts) + f"\n\n<input>\n{query.text}")


def _reached(layout: Layout, agent: int) -> str:
    return ", ".join([*sorted(layout.reach(agent)), "the three shared counters"])


class ModelPlayer:
    """A player whose answers come from a language model."""

    def __init__(self, complete: Callable[[Prompt], str]) -> None:
        """Take what sends a prompt to a model and gives its text; what that raises ends the game."""
        self._complete = complete

    def answer(self, query: Query) -> str:
        """Ask the model."""
        return self._complete(prompt_for(query))
