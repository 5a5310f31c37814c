"""A whole game measured: as published, as the paper says, and against all references there are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from games.overcooked.engine.actions import Trajectory, normalised
from games.overcooked.engine.layout import AGENTS, DISH, Layout
from games.overcooked.engine.references import published_references, searched_references
from games.overcooked.engine.workflow import workflow
from games.overcooked.measures.collaboration import Event, event_of
from games.overcooked.measures.metrics import TrajectoryScore, history, overall_f1_upstream, progress_completeness, score, searched_tes
from games.overcooked.measures.truncation import GameRecord, finished_in_time


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
    return Evaluation(
        scores=(first, second),
        action_counts=(len(done[0]), len(done[1])),
        fair_tes=(fair[0], fair[1]),
        events=_events(game, references, 0),
        assistant_events=_events(game, references, 1),
        required=hand_overs(order, layout),
        in_time=finished_in_time(game),
        pc=progress_completeness((first, second)),
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
    delivery = game.recorded[0][-1:] if game.finished and opener else ()  # recorded with its own step, and made when all is said
    for step, (called, messages) in enumerate(zip(game.calls, game.messages, strict=True)):
        if not called[opener]:
            continue
        recorded = [[entry.action for entry in actions if entry.timestamp <= step and entry not in delivery] for actions in game.recorded]
        event = event_of(messages[opener], step, recorded, references, game.task.layout)
        if event is not None:
            found.append(event)
    return found
