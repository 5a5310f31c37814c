"""A logged game played again from its macro actions: states, what each step changed, and where the log differs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from games.overcooked.engine.layout import Cell, Layout, kitchen
from games.overcooked.engine.world import Rules, WorldChange, spoiled_notice
from games.overcooked.scenes import Outcome, Verified, scenes_of


class ReplayedStep(NamedTuple):
    """A timestep as the engine plays it."""

    before: dict[str, Any]
    after: dict[str, Any]
    """Not to be changed: other steps that lead to the same state hold the same object."""

    before_json: str
    after_json: str

    done: Sequence[WorldChange]
    undoes: Sequence[bool]
    """Of each change: an agent takes back from a counter what it put there itself."""

    map_before: str
    """Picture of the kitchen before the step, as logs have it."""

    delivered: bool
    score: int
    """Points so far."""

    order: str
    notices: Sequence[str]
    """What the step tells both agents: contents that made nothing."""

    verified: Verified
    """Of each agent the actions, among those that were to be tried, that would have brought the order on."""


def replay(
    order: str,
    actions: Iterable[Sequence[str]],
    rules: Rules = "published",
    following: Sequence[tuple[tuple[str, ...], ...]] = (),
    layout: Layout | None = None,
) -> Iterator[ReplayedStep]:
    """Execute the macro actions that were in force, one pair a step.

    Args:
        order: what is cooked.
        actions: of each step both agents' actions; drawn one by one.
        rules: the reading of the rules.
        following: of each step both agents' next actions by the references; each is tried against the kitchen as it stands.
        layout: the kitchen; None: the published one.
    """
    scenes = scenes_of(layout or kitchen(), order, rules)
    scene, delivered, score = scenes.start(), False, 0
    placed_by: dict[Cell, int] = {}
    for step, pair in enumerate(actions):
        verified = scene.verified(following[step] if following else ())
        outcome = scenes.outcome(scene, tuple(pair))
        delivered, score = delivered or outcome.delivered, score + outcome.earned
        undoes = [found.text.endswith(", counter)") and _own(found.agent, outcome, placed_by) for found in outcome.done]
        placed_by |= outcome.filled
        notices = [spoiled_notice(name, step + 1) for name in outcome.spoiled]
        after = outcome.scene
        yield ReplayedStep(
            scene.state,
            after.state,
            scene.state_json,
            after.state_json,
            outcome.done,
            undoes,
            scene.picture,
            delivered,
            score,
            order,
            notices,
            verified,
        )
        scene = after


def _own(agent: int, outcome: Outcome, placed_by: dict[Cell, int]) -> bool:
    return any(placed_by.get(at) == agent for at in outcome.emptied)
