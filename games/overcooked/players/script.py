"""What both scripted players know of a game: the work, who asked for what, and what is still to be done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.references import ReferencePair, published_references
from games.overcooked.engine.vocabulary import PLACE
from games.overcooked.engine.world import World


class Chunk(NamedTuple):
    """What the Assistant does for one request: it ends with something on a counter."""

    actions: tuple[str, ...]

    @property
    def item(self) -> str:
        """What is put on the counter."""
        return next(action for action in reversed(self.actions) if action.startswith("pickup(")).removeprefix("pickup(").partition(",")[0]

    @property
    def first_pickup(self) -> tuple[str, str]:
        """Object and place of the first thing that is fetched."""
        inside = next(action for action in self.actions if action.startswith("pickup("))[len("pickup(") : -1]
        item, _, place = inside.partition(",")
        return item, place


def chunks_of(actions: Sequence[str]) -> tuple[Chunk, ...]:
    """Cut the Assistant's reference where it has put something down for the Chef."""
    found: list[Chunk] = []
    open_chunk: list[str] = []
    for action in actions:
        open_chunk.append(action)
        if action == PLACE:
            found.append(Chunk(tuple(open_chunk)))
            open_chunk = []
    return tuple(found)


@dataclass(slots=True)
class Script:
    """The plan of one game and how far it is. The partner learns a request from here, as if it had understood the say."""

    order: str
    layout: Layout
    pair: ReferencePair
    chunks: tuple[Chunk, ...]
    asked: list[Chunk] = field(default_factory=list)
    """Requests in order, wrong ones included; the last one is what the Assistant is working on."""

    intended: Chunk | None = None
    """The hand-over that the last request was about; None if the request was wrong."""

    open_work: list[str] = field(default_factory=list)
    """Actions that the Assistant has accepted and not yet put into a plan."""

    places_due: int = 0
    """How often the Assistant will have put something down, of all the game, when it has done what it has accepted."""

    served: set[int] = field(default_factory=set)
    """Which chunks have been asked for rightly, by their place."""

    chef_done: int = 0
    """The Chef's reference actions that are behind it."""

    @classmethod
    def of(cls, order: str, layout: Layout | None = None) -> "Script":
        """Give the plan that follows the first published reference."""
        pair = published_references(order, layout)[0]
        return cls(order, layout or kitchen(), pair, chunks_of(pair.assistant))

    @property
    def next_chunk(self) -> int | None:
        """The first chunk that has not been asked for."""
        return next((place for place in range(len(self.chunks)) if place not in self.served), None)

    def accept(self, work: Sequence[str], so_far: Sequence[str]) -> None:
        """Give the Assistant work; ``so_far`` are its actions up to now."""
        self.open_work = list(work)
        self.places_due = so_far.count(PLACE) + self.open_work.count(PLACE)

    def unfinished(self, world: World, chef_actions: Sequence[str]) -> list[str]:
        """What the Assistant still has to do for the hand-over it was asked for; nothing if its item has been put on a counter."""
        chunk, held = self.intended, world.bodies[1].held
        if chunk is None or chunk.item in world.counters.values() or f"pickup({chunk.item},counter)" in chef_actions:
            return []
        if held == chunk.item:
            return [PLACE]
        if held is not None and held != chunk.first_pickup[0]:
            return [PLACE, *chunk.actions]
        start = int(held is not None)
        for place, action in enumerate(chunk.actions):
            name, _, inside = action.rstrip(")").partition("(")
            pot = world.utensils.get(inside.rpartition(",")[2])
            if pot is None:
                continue
            if (name == "pickup" and pot.product == chunk.item) or (name not in ("pickup", "put_obj_in_utensil") and not pot.timer):
                start = place
        return list(chunk.actions[start:])

    def foreign_item(self) -> str | None:
        """A raw ingredient that the order does not take; None where the kitchen has no other."""
        used = " ".join((*self.pair.chef, *self.pair.assistant))
        return next((item for item in self.layout.ingredients if item not in used), None)

    def can_begin(self, world: World, chunk: Chunk) -> bool:
        """Whether what a chunk begins with is there."""
        item, place = chunk.first_pickup
        return place != "counter" or item in world.counters.values()

    def chef_next(self, world: World) -> list[str]:
        """The Chef's next actions that can be done on the present state without waiting for anything; empty if it has to wait."""
        rest = self.pair.chef[self.chef_done :]
        found: list[str] = []
        available = list(world.counters.values())
        for action in rest:
            if action.startswith("pickup("):
                item, _, place = action[len("pickup(") : -1].partition(",")
                there = item in available if place == "counter" else world.ready(place) and not found
                if not there:
                    break
            found.append(action)
            if self.layout.is_operation(action):
                break
        return found

    def advance_chef(self, recorded: Sequence[str]) -> None:
        """Move on along the Chef's reference by what it has done."""
        matched = 0
        for action in recorded:
            if matched < len(self.pair.chef) and action == self.pair.chef[matched]:
                matched += 1
        self.chef_done = matched


def call_words(action: str) -> str:
    """Say an action in words."""
    name, _, inside = action.rstrip(")").partition("(")
    arguments = [argument.replace("_", " ") for argument in inside.split(",") if argument]
    if name == "pickup":
        return f"pick up {arguments[0]} from the {arguments[1]}"
    if name == "put_obj_in_utensil":
        return f"put it into the {arguments[0]}"
    if action == PLACE:
        return "place it on the counter"
    return " ".join([name.replace("_", " "), *(f"with the {argument}" for argument in arguments)])
