"""The experiments A, B and C of Collab-Overcooked (its Figure 5) as questions with a key.

Five orders of level 3, and the five actions by which the Assistant prepares the first ingredient. Before question k it has done k - 1 of
them. The Chef's side is what to request next (NR), the Assistant's what to do at a right request (JP). A: the recipe as it is; B: its first
step as five steps; C: those five rotated so that the due one comes first. The paper asks for free text and labels errors by hand; here the
options are the five actions.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from games.overcooked.engine.actions import is_over, next_move
from games.overcooked.engine.layout import kitchen
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import recipe_text, tasks
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import Move, World, start_world
from games.overcooked.text.prompts import Remembered, observation
from games.probes import RULES, Probe, Scenario

_ASSISTANT: Final = 1
_LEVEL: Final = 3
_ACTIONS: Final = 5
EXPERIMENTS: Final = {"A": "plain", "B": "steps", "C": "steps:{k}"}
"""Experiment -> variant of the recipe."""
_RULES: Final = RULES["overcooked"]


def fixed() -> Iterator[Scenario]:
    """75 scenarios: three experiments, five actions, five orders."""
    for experiment in EXPERIMENTS:
        for k in range(1, _ACTIONS + 1):
            for order in (name for name, task in tasks().items() if task.level == _LEVEL):
                yield _scenario(experiment, EXPERIMENTS[experiment].format(k=k), order, k)


def _scenario(experiment: str, variant: str, order: str, k: int) -> Scenario:
    actions = published_references(order)[0][_ASSISTANT][:_ACTIONS]
    world = _after(order, actions[: k - 1])
    words = [
        line.partition(". ")[2].rstrip(".") for line in recipe_text(order, variant="steps").split("STEPS:\n")[1].splitlines()[:_ACTIONS]
    ]
    done = [{"timestamp": place, "action": action} for place, action in enumerate(actions[: k - 1])]
    seen = observation(world, 0, Remembered(done), ([], []))
    possible = {action: refusal(world, _ASSISTANT, action) is None for action in actions}
    held = world.bodies[_ASSISTANT].held or "nothing"
    items = {"nothing", *(action.removeprefix("pickup(").partition(",")[0] for action in actions if action.startswith("pickup("))}
    return Scenario(
        f"Overcooked {experiment}{k}",
        f"{_RULES}\n{recipe_text(order, variant=variant)}\nThe Assistant has done: {', '.join(actions[: k - 1]) or 'nothing'}.\n{seen}",
        {
            "EC": Probe("What does the Assistant hold?", [held], sorted(items - {held})),
            "TOM": Probe.of("Which of these actions can the Assistant carry out now?", possible),
            "JP": Probe.of(
                f"You are the Assistant. The Chef requests: {words[k - 1]}. Which action do you take?",
                {action: action == actions[k - 1] for action in actions},
            ),
            "NR": Probe.of(
                "You are the Chef. Which action should you request of the Assistant next?", {text: text == words[k - 1] for text in words}
            ),
        },
    )


def _after(order: str, actions: Sequence[str]) -> World:
    """The kitchen after the Assistant has done these, the Chef waiting."""
    world = start_world(kitchen(), order)
    for action in actions:
        while not is_over(world, _ASSISTANT, action, 0):
            world.step([Move(), next_move(world, _ASSISTANT, action)])
    return world
