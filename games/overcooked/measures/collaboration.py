"""Initiating and responding collaboration: ITES, IC, RC (paper; formats/overcooked.md, section 7.4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from games.overcooked.engine.actions import Trajectory
from games.overcooked.engine.layout import Layout
from games.overcooked.engine.vocabulary import PLACE, known_actions
from games.overcooked.measures.metrics import best_tes, d_max, history, tes
from games.overcooked.text.grammar import NOTHING, calls_in, requests_in

BOTH_RIGHT: Final = 0
ONLY_INITIATED: Final = 1
ONLY_RESPONDED: Final = 2
NEITHER: Final = 3
"""The codes of the published `process_result`."""


class TimestepOutput(NamedTuple):
    """One model output of a timestep."""

    agent: int
    """Who wrote it."""

    analysis: str
    plan: str
    """With its label; empty if there was none."""

    say: str


@dataclass(frozen=True, slots=True)
class Event:
    """A conversation, measured."""

    timestep: int
    opener: int
    logged: Trajectory
    """What the responder had recorded by then, as logged."""

    done: Trajectory
    """H: those of them that count, without blanks."""

    request: Trajectory
    """R: what the opener's plans request of the responder."""

    plan: Trajectory
    """R^: what the responder's first plan says."""

    initiating: float
    """c_1, the increment of TES that the request would bring: ITES of the initiation."""

    gap: float
    """c_2, TES with the request less TES with the response."""

    responding: float
    """c_3, the increment of TES that the response would bring: ITES of the response."""

    offered: str
    """The item that the opener had put on a counter last; empty if none."""

    asked: frozenset[str]
    """Items whose hand-over a right request brings on; empty if it is wrong."""

    answered: frozenset[str]
    """Items whose hand-over a right response brings on; empty if it is wrong."""

    @property
    def responder(self) -> int:
        """Who was asked."""
        return 1 - self.opener

    @property
    def initiated(self) -> bool:
        """The request was right."""
        return self.initiating > 0

    @property
    def responded(self) -> bool:
        """The answer was right."""
        return self.responding > 0

    @property
    def process_code(self) -> int:
        """``BOTH_RIGHT``, ``ONLY_INITIATED``, ``ONLY_RESPONDED`` or ``NEITHER``."""
        return {(True, True): BOTH_RIGHT, (True, False): ONLY_INITIATED, (False, True): ONLY_RESPONDED}.get(
            (self.initiated, self.responded), NEITHER
        )


def requested(messages: Iterable[TimestepOutput], opener: int, layout: Layout | None = None) -> tuple[str, ...]:
    """Give what the opener's plans request, in order, restricted to the responder's actions."""
    known = known_actions(1 - opener, layout)
    return tuple(action for message in messages if message.agent == opener for action in requests_in(message.plan) if action in known)


def event_of(
    messages: Sequence[TimestepOutput],
    timestep: int,
    recorded: Sequence[Sequence[str]],
    references: Sequence[Sequence[Trajectory]],
    layout: Layout | None = None,
) -> Event | None:
    """Measure the conversation of one agent's own turn.

    Args:
        messages: of that turn, in order.
        timestep: when, from 0.
        recorded: per agent, the logged actions with a time stamp up to ``timestep``.
        references: per agent, its reference trajectories; each agent's best is chosen on its own.
        layout: the kitchen; None: the published one.

    Returns:
        None if nobody said anything; the published script stops with an error there.
    """
    opener = next((message.agent for message in messages if message.say not in ("", NOTHING)), None)
    if opener is None:
        return None
    responder = 1 - opener
    done = history(recorded[responder], layout)
    request = requested(messages, opener, layout)
    plan = _first_plan(messages, responder, layout)
    own = references[responder]
    before, with_request, with_plan = best_tes(done, own), best_tes((*done, *request), own), best_tes((*done, *plan), own)
    return Event(
        timestep,
        opener,
        tuple(recorded[responder]),
        done,
        request,
        plan,
        with_request - before,
        with_request - with_plan,
        with_plan - before,
        _offered(history(recorded[opener], layout)),
        _handed_over(responder, done, request, own) if with_request > before else frozenset(),
        _handed_over(responder, done, plan, own) if with_plan > before else frozenset(),
    )


def _offered(done: Trajectory) -> str:
    item, offered = "", ""
    for action in done:
        item = _picked(action) or item
        offered = item if action == PLACE else offered
    return offered


def _handed_over(responder: int, done: Trajectory, more: Trajectory, references: Sequence[Trajectory]) -> frozenset[str]:
    """Items to whose hand-over those further actions belong that bring the best reference on."""
    best = max(references, key=lambda reference: tes((*done, *more), reference))
    items = _HAND_OVERS[responder](tuple(best))
    return frozenset(item for item in items[d_max(done, best) : d_max((*done, *more), best)] if item)


@cache
def _received(reference: tuple[str, ...]) -> tuple[str, ...]:
    """Of each action of the Chef's reference, which item it took from the counter last; empty before the first."""
    found, item = [], ""
    for action in reference:
        item = _picked(action) if action.endswith(",counter)") else item
        found.append(item)
    return tuple(found)


@cache
def _given(reference: tuple[str, ...]) -> tuple[str, ...]:
    """Of each action of the Assistant's reference, which item is put on the counter next."""
    found: list[str] = []
    item = ""
    for place, action in enumerate(reference):
        item = _picked(action) or item
        if action == PLACE:
            found += [item] * (place + 1 - len(found))
    return tuple(found)


_HAND_OVERS: Final = (_received, _given)
"""Per responder, how the actions of its reference divide into the hand-overs that the order requires of the Assistant."""


def _picked(action: str) -> str:
    """The item of a `pickup(item,place)`; empty for other actions."""
    name, _, rest = action.partition("(")
    return rest.partition(",")[0] if name == "pickup" else ""


def _first_plan(messages: Sequence[TimestepOutput], responder: int, layout: Layout | None) -> tuple[str, ...]:
    known = known_actions(responder, layout)
    plans = (calls_in(message.plan) for message in messages if message.agent == responder)
    first = next((plan for plan in plans if plan is not None), ())
    return tuple(action for action in first if action in known)


def confusion(events: Iterable[Event]) -> list[list[list[int]]]:
    """Give the published 3 x 2 x 2 matrix: sign of c_2, then cells whose meaning differs by that sign (section 7.4)."""
    cells = [[[0, 0], [0, 0]] for _ in range(3)]
    for event in events:
        row = 0 if event.gap > 0 else 1 if event.gap == 0 else 2
        second, third = _CELLS[event.process_code]
        cells[row][second][third] += 1
    return cells


_CELLS: Final = {BOTH_RIGHT: (0, 0), ONLY_INITIATED: (1, 0), ONLY_RESPONDED: (0, 1), NEITHER: (1, 1)}
