"""A game measured: trajectories, collaboration (ITES, IC, RC) and time limit (paper; formats/overcooked.md, sections 7.1 to 7.5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

from games.overcooked.engine.actions import Trajectory, normalised
from games.overcooked.engine.layout import AGENTS, DISH, NONE, PLACE, Layout, known_actions, known_to_anyone
from games.overcooked.engine.references import SearchedReferences, published_references, searched_references, workflow
from games.overcooked.engine.tasks import Task
from games.overcooked.text.replies import NOTHING, calls_in, requests_in

BETA: Final = 0.95
"""Weight of the number of actions against the length of the reference (section 7)."""

_BETA_SQUARED: Final = BETA * BETA


@dataclass(frozen=True, slots=True)
class TrajectoryScore:
    """How an agent's actions compare with the reference that fits them best."""

    tes: float
    """Trajectory efficiency score, 0 to 1; the code calls it F1."""
    similarity: float
    """Share of the reference that was followed, 0 to 1."""
    precision: float
    """Share of the actions that follow the reference, 0 to 1; the code calls it redundancy, which it is not. 0 without actions."""
    d_max: int
    """Actions of the reference that were followed."""
    reference: int
    """Which reference, from 0: the first of the best."""

    @property
    def redundancy(self) -> float:
        """Share of the actions that do not follow the reference, 0 to 1."""
        return 1.0 - self.precision


def history(actions: Sequence[str], layout: Layout | None = None) -> tuple[str, ...]:
    """Give logged actions as they count in a kitchen: without blanks, unknown ones dropped (section 7.2)."""
    known = known_to_anyone(layout)
    return tuple(action for action in map(normalised, actions) if action in known)


def d_max(done: Trajectory, reference: Trajectory) -> int:
    """Length of the longest prefix of the reference that is a subsequence of what was done (section 7.1)."""
    left = iter(done)
    for matched, action in enumerate(reference):
        if action not in left:  # looks on from the last one found
            return matched
    return len(reference)


def tes(done: Trajectory, reference: Trajectory) -> float:
    """Trajectory efficiency score against one reference: (1 + b^2) D / (m + b^2 n), b = 0.95 (section 7.1)."""
    return _efficiency(d_max(done, reference), len(reference), len(done))


def _efficiency(matched: int, reference_length: int, done_length: int) -> float:
    """The same out of D, m and n; 0 if nothing was done."""
    return (1 + _BETA_SQUARED) * matched / (reference_length + _BETA_SQUARED * done_length) if done_length else 0.0


def best_tes(done: Trajectory, references: Sequence[Trajectory]) -> float:
    """Trajectory efficiency score against the reference that fits best."""
    return max(tes(done, reference) for reference in references)


def searched_tes(done: Trajectory, references: SearchedReferences, agent: int) -> float:
    """Trajectory efficiency score against the best of all references of an agent, 0 to 1."""
    return _efficiency(references.longest_match(agent, done), references.lengths[agent], len(done))


def score(done: Trajectory, references: Sequence[Trajectory]) -> TrajectoryScore:
    """Compare a whole game's actions of one agent with all its references; an agent that did nothing is given the action ``NONE``."""
    counted = tuple(done) or (NONE,)
    values = [tes(counted, reference) for reference in references]
    best = values.index(max(values))
    matched = d_max(counted, references[best])
    return TrajectoryScore(values[best], matched / len(references[best]), matched / len(counted), matched, best)


def overall_f1_upstream(scores: Sequence[TrajectoryScore], reference_lengths: Sequence[int], action_counts: Sequence[int]) -> float:
    """The code's `overall.mean_f1`, 0 for a perfect game because it takes precision for redundancy (section 7.3); not to be used.

    ``action_counts`` are those the scores were made from: 1 for an agent that did nothing.
    """
    similarity = _weighted([entry.similarity for entry in scores], reference_lengths)
    misnamed = _weighted([1.0 - entry.precision for entry in scores], action_counts)
    return 2 * similarity * misnamed / (similarity + misnamed) if similarity + misnamed else 0.0


def _weighted(values: Sequence[float], weights: Sequence[int]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


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
    """R^: the responder's first plan."""
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
        None if no agent wrote anything; the published script stops with an error there.
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


@dataclass(frozen=True, slots=True)
class Recorded:
    """An action that the engine recorded."""

    timestamp: int
    """Index of the executing step + 1, except of the last delivery, which has the index of its step (section 2.1)."""
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """What the metrics need of a game."""

    task: Task
    finished: bool
    """The order was delivered, in time or not."""
    timestamps: Sequence[int]
    """One for each executed step."""
    recorded: tuple[Sequence[Recorded], Sequence[Recorded]]
    """Per agent."""
    messages: Sequence[tuple[Sequence[TimestepOutput], Sequence[TimestepOutput]]]
    """Per step and agent whose turn it was: its output and the conversation it opened."""
    calls: Sequence[tuple[bool, bool]]
    """Per step and agent: a conversation was opened."""
    errors: Mapping[str, Sequence[tuple[int, int]]]
    """``validator`` and ``format``: per step and agent how many errors of that kind."""
    score: float
    """Points at the end, as logged; cutting does not reset it."""
    horizon: int
    """Steps after which the engine stops."""


def finished_in_time(game: GameRecord) -> bool:
    """Tell whether the order was delivered within the time limit: the index of the last step is at most the limit."""
    return game.finished and bool(game.timestamps) and game.timestamps[-1] <= game.task.time_limit


def cut_to_limit(game: GameRecord) -> GameRecord | None:
    """Give the game up to the time limit, which it then failed; None if that changes nothing."""
    limit = game.task.time_limit
    if finished_in_time(game):
        return None
    first, second = ([entry for entry in actions if entry.timestamp < limit] for actions in game.recorded)
    cut = replace(
        game,
        finished=False,
        timestamps=range(min(limit, len(game.timestamps))),
        recorded=(first, second),
        messages=game.messages[:limit],
        calls=game.calls[:limit],
        errors={kind: counts[:limit] for kind, counts in game.errors.items()},
    )
    same = not game.finished and len(game.timestamps) <= limit and [len(actions) for actions in game.recorded] == [len(first), len(second)]
    return None if same else cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The numbers of a game."""

    scores: tuple[TrajectoryScore, TrajectoryScore]
    """Chef and Assistant against the published references."""
    action_counts: tuple[int, int]
    """Recorded actions that count."""
    fair_tes: tuple[float, float]
    """The same actions, defects of the recording repaired, against all references: 0 to 1."""
    events: Sequence[Event]
    """Conversations opened by the Chef on its own turn: those the published evaluation measures."""
    assistant_events: Sequence[Event]
    """Conversations opened by the Assistant on its own turn, which it leaves out."""
    required: int
    """Hand-overs of the order: the number of collaborations that the Chef has to initiate."""
    in_time: bool
    pc: float
    """Progress completeness, 0 to 1."""
    overall_f1_upstream: float

    @property
    def fair_pc(self) -> float:
        """Progress completeness against all references, 0 to 1."""
        return sum(self.fair_tes) / len(self.fair_tes)

    @property
    def initiated(self) -> int:
        """Right initiations of the Chef."""
        return sum(event.initiated for event in self.events)

    @property
    def responded(self) -> int:
        """Right responses to the Chef."""
        return sum(event.responded for event in self.events)

    @property
    def hand_overs_asked(self) -> int:
        """Required hand-overs that either agent rightly asked for, each counted once however often that happened."""
        return len(frozenset[str]().union(*(event.asked for event in (*self.events, *self.assistant_events))))

    @property
    def hand_overs_answered(self) -> int:
        """Required hand-overs that either agent rightly responded to, each counted once."""
        return len(frozenset[str]().union(*(event.answered for event in (*self.events, *self.assistant_events))))

    @property
    def initiating_capability(self) -> float:
        """IC of the paper, 0 to 1: the share of the required hand-overs that was rightly asked for."""
        return self.hand_overs_asked / self.required

    @property
    def responding_capability(self) -> float:
        """RC of the paper, 0 to 1: the share of the required hand-overs that was rightly responded to."""
        return self.hand_overs_answered / self.required

    @property
    def initiating_upstream(self) -> float:
        """IC of the code: right initiations over conversations; 0 without any."""
        return self.initiated / len(self.events) if self.events else 0.0

    @property
    def responding_upstream(self) -> float:
        """RC of the code: right responses over conversations; 0 without any."""
        return self.responded / len(self.events) if self.events else 0.0


def evaluate(game: GameRecord) -> Evaluation:
    """Measure a game."""
    order, layout = game.task.order, game.task.layout
    pairs = published_references(order, layout)
    references = ([pair.chef for pair in pairs], [pair.assistant for pair in pairs])
    done = [history([entry.action for entry in actions], layout) for actions in game.recorded]
    first, second = (score(own, known) for own, known in zip(done, references, strict=True))
    lengths = [len(known[0]) for known in references]
    every = searched_references(order, layout)
    done_rightly = [history(repaired([entry.action for entry in actions]), layout) for actions in game.recorded]
    fair = [searched_tes(done_rightly[agent], every, agent) for agent in range(len(AGENTS))]
    scores = (first, second)
    return Evaluation(
        scores=(first, second),
        action_counts=(len(done[0]), len(done[1])),
        fair_tes=(fair[0], fair[1]),
        events=_events(game, references, 0),
        assistant_events=_events(game, references, 1),
        required=hand_overs(order, layout),
        in_time=finished_in_time(game),
        pc=sum(entry.tes for entry in scores) / len(scores),
        overall_f1_upstream=overall_f1_upstream((first, second), lengths, [max(1, len(own)) for own in done]),
    )


def hand_overs(order: str, layout: Layout | None = None) -> int:
    """Give how often the Assistant has to put something on a counter for the Chef: 1, 1, 2, 3, 4, 5 in levels 1 to 6."""
    return sum(unit.counters > 0 for unit in workflow(order, layout).of(1))


class Repair:
    """Calls recorded actions rightly, one after the other.

    The published engine records filling a dish at the oven as putting something in, once for every step of waiting too (section 2.1).
    A dish cannot be put into a utensil, so that is what such a record with a dish in the hand must mean.
    """

    def __init__(self) -> None:
        self._dish = False
        self._last = ""

    def repaired(self, recorded: Iterable[str]) -> Iterator[str]:
        """Give the next actions that were done, without blanks."""
        for action in map(normalised, recorded):
            if action.startswith("pickup("):
                self._dish = action.startswith(f"pickup({DISH},")
            elif action.startswith("place_obj_on_counter"):
                self._dish = False
            done, waiting = action, False
            if self._dish and action.startswith("put_obj_in_utensil("):
                done = action.replace("put_obj_in_utensil", "fill_dish_with_food")
                waiting = done == self._last
            if not waiting:
                self._last = done
                yield done


def repaired(actions: Trajectory) -> tuple[str, ...]:
    """Give recorded actions with fillings of a dish called so."""
    return tuple(Repair().repaired(actions))


def _events(game: GameRecord, references: Sequence[Sequence[Trajectory]], opener: int) -> list[Event]:
    found: list[Event] = []
    delivery = (
        game.recorded[0][-1:] if game.finished and opener else ()
    )  # recorded with its own step, and made when the conversation is over
    for step, (called, messages) in enumerate(zip(game.calls, game.messages, strict=True)):
        if not called[opener]:
            continue
        recorded = [[entry.action for entry in actions if entry.timestamp <= step and entry not in delivery] for actions in game.recorded]
        event = event_of(messages[opener], step, recorded, references, game.task.layout)
        if event is not None:
            found.append(event)
    return found
