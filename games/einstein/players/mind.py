"""A scripted player's decision: what it can infer from what it is shown and remembers, and sensible play."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.puzzle import (
    ALLOWED,
    COMMON,
    DESTINATIONS,
    OWN_DESTINATIONS,
    START_BINS,
    Bin,
    Grounding,
    Item,
    Verbs,
    infer_goals,
    mentions,
)
from games.einstein.game import PlayerView


@dataclass(frozen=True)
class Mind:
    """A player's view of a game, before it decides."""

    seen: PlayerView
    placed: dict[int, Bin]
    """Where objects were seen in destination bins, now or earlier: only right objects stay there."""

    @property
    def verbs(self) -> Verbs:
        """What the own action space allows."""
        return ALLOWED[self.seen.mode]

    @property
    def blocks(self) -> range:
        """The objects of the game."""
        return range(self.seen.num_objects)

    @cached_property
    def goals(self) -> dict[int, Bin]:
        """The goal bin of every object that the player can work out."""
        return infer_goals([*self.seen.items, *(Grounding(block, goal) for block, goal in self.placed.items())])

    @property
    def unknown(self) -> list[int]:
        """Objects whose goal the player cannot work out."""
        return [block for block in self.blocks if block not in self.goals]

    @property
    def own_bins(self) -> frozenset[Bin]:
        """The destination bins within reach."""
        return OWN_DESTINATIONS[self.seen.player]

    @property
    def start_bin(self) -> Bin:
        """The player's own start bin."""
        return START_BINS[self.seen.player]

    @cached_property
    def in_hand(self) -> list[int]:
        """Objects not in a destination bin that the player reaches."""
        return [block for block in self.blocks if self.seen.positions[block] in (self.start_bin, COMMON)]

    @cached_property
    def useful_moves(self) -> list[Move]:
        """Known objects in hand: into their bin, or from the start bin to the common bin."""
        found = (self.useful_move(block) for block in self.in_hand if block in self.goals)
        return [move for move in found if move]

    def useful_move(self, block: int) -> Move | None:
        """Give the right move of a known object in hand, if there is one."""
        place, goal = self.seen.positions[block], self.goals[block]
        target = goal if goal in self.own_bins else COMMON
        return None if place == target else Move(block, place, target)

    @cached_property
    def shared(self) -> set[Item]:
        """Items shared successfully by either player."""
        return {entry.action.item for entry in self.seen.history if entry.ok and isinstance(entry.action, Share)}

    def obsolete(self, item: Item) -> bool:
        """Tell whether all objects of an item are in destination bins."""
        return all(self.seen.positions[block] in DESTINATIONS for block in self.blocks if mentions(item, block))

    @cached_property
    def news(self) -> list[Item]:
        """Items worth sharing: neither shared nor obsolete."""
        return [item for item in self.seen.items if item not in self.shared and not self.obsolete(item)]

    @property
    def asked(self) -> int | None:
        """The object that the partner has just asked for."""
        last = self.seen.history[-1].action if self.seen.history else None
        return last.block if isinstance(last, Ask) else None

    @cached_property
    def answers(self) -> list[Item]:
        """Items worth telling that answer the partner's question."""
        return [] if self.asked is None else [item for item in self.news if mentions(item, self.asked)]

    @property
    def partner_replies(self) -> bool:
        """Whether an ask can be answered."""
        return ALLOWED[self.seen.partner_mode].reply

    @cached_property
    def own_asks(self) -> set[int]:
        """Objects that the player has asked for."""
        return {entry.action.block for entry in self.seen.history if entry.player == self.seen.player and isinstance(entry.action, Ask)}

    @cached_property
    def own_failures(self) -> list[Move]:
        """Own moves shown as failed after which the object is not where it was to go."""
        own = (entry for entry in self.seen.history if entry.player == self.seen.player and not entry.ok)
        moves = [entry.action for entry in own if isinstance(entry.action, Move)]
        return [move for move in moves if move.block in self.blocks and self.seen.positions[move.block] != move.target]


class StatedThought(NamedTuple):
    """What the thoughts say of an object."""

    block: int
    goal: Bin | None
    """Where the text places it; None: stated to be unknown."""


class Intent(NamedTuple):
    """An answer in the making."""

    habit: str
    """``sense``, or the name of the habit that made it."""
    action: Action | None
    """What is done; None for an answer that the grammar does not read."""
    reason: str
    """The kind of thought that goes with it: a symbol of ``wording.yaml``."""
    claims: tuple[StatedThought, ...] = ()
    written: str | None = None
    """The action as written, where that is not simply ``action.text``."""
    thought: str | None = None
    """The whole thought, where it is more than claims and reason put into words."""

    @property
    def action_text(self) -> str:
        """The text in the action tag."""
        if self.written is not None:
            return self.written
        return "" if self.action is None else self.action.text


Habit = Callable[[Mind, random.Random], Intent | None]
"""Gives a decision, or None where the game offers no occasion."""


SENSE: Final = "sense"


def sensible(mind: Mind, rng: random.Random) -> Intent:
    """Decide as a careful player would. Always finds something to do."""
    for try_it in _ORDER:
        intent = try_it(mind, rng)
        if intent is not None:
            return intent
    return Intent(SENSE, Pass(), "pass")


def useful_move(mind: Mind, rng: random.Random) -> Intent | None:
    """Place a known object; if there is none to place, pass one on."""
    if not mind.useful_moves:
        return None
    placing = [move for move in mind.useful_moves if move.target != COMMON]
    move = rng.choice(placing or mind.useful_moves)
    return Intent(SENSE, move, "place" if placing else "pass_on", (StatedThought(move.block, mind.goals[move.block]),))


def _answer(mind: Mind, rng: random.Random) -> Intent | None:
    if not mind.answers or not mind.verbs.reply:
        return None
    return Intent(SENSE, Share(rng.choice(mind.answers)), "answer")


def _tell(mind: Mind, rng: random.Random) -> Intent | None:
    if not mind.verbs.share or not mind.news:
        return None
    away = [block for block in mind.blocks if block not in mind.in_hand and block not in mind.placed]  # out of the player's hands
    open_items = [item for item in mind.news if any(mentions(item, block) for block in away)]
    return Intent(SENSE, Share(rng.choice(open_items or mind.news)), "tell")


def _ask(mind: Mind, rng: random.Random) -> Intent | None:
    fresh = [block for block in mind.unknown if block not in mind.own_asks]
    if not fresh or not mind.verbs.ask or not mind.partner_replies:
        return None
    block = rng.choice(fresh)
    return Intent(SENSE, Ask(block), "ask", (StatedThought(block, None),))


def _guess(mind: Mind, rng: random.Random) -> Intent | None:
    tried = {(move.block, move.target) for move in mind.own_failures}
    ideas = [
        Move(block, mind.seen.positions[block], target)
        for block in mind.in_hand
        if block not in mind.goals
        for target in sorted(mind.own_bins)
        if (block, target) not in tried
    ]
    if not ideas:
        there = [block for block in mind.in_hand if mind.seen.positions[block] == mind.start_bin]
        ideas = [Move(block, mind.start_bin, COMMON) for block in there if block not in mind.goals]
    if not ideas:
        return None
    move = rng.choice(ideas)
    return Intent(SENSE, move, "guess", (StatedThought(move.block, None),))


_ORDER: Final[tuple[Habit, ...]] = (_answer, useful_move, _tell, _ask, _guess)
