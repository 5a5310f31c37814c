"""A scripted player's decision: what it can infer from what it is shown and remembers, and sensible play."""

import random
from collections.abc import Callable
from typing import Final, NamedTuple

from games.einstein.engine import puzzle as puzzles
from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.game import PlayerView


class Mind:
    """A player's view of a game, before it decides: what follows from what it is shown and remembers."""

    def __init__(self, seen: PlayerView, placed: dict[int, puzzles.Bin]) -> None:
        """``placed``: where objects were seen in destination bins, now or earlier; only right objects stay there."""
        own = [entry for entry in seen.history if entry.player == seen.player]
        last = seen.history[-1].action if seen.history else None
        self.seen, self.placed = seen, placed
        self.verbs = puzzles.ALLOWED[seen.mode]
        """What the own action space allows."""
        self.partner_replies = puzzles.ALLOWED[seen.partner_mode].reply
        """Whether an ask can be answered."""
        self.blocks = range(seen.num_objects)
        self.goals = puzzles.infer_goals([*seen.items, *(puzzles.Grounding(block, goal) for block, goal in placed.items())])
        """The goal bin of every object that the player can work out."""
        self.unknown = [block for block in self.blocks if block not in self.goals]
        self.own_bins = puzzles.OWN_DESTINATIONS[seen.player]
        """The destination bins within reach."""
        self.start_bin = puzzles.START_BINS[seen.player]
        self.in_hand = [block for block in self.blocks if seen.positions[block] in (self.start_bin, puzzles.COMMON)]
        """Objects not in a destination bin that the player reaches."""
        self.useful_moves = [move for block in self.in_hand if block in self.goals and (move := self.useful_move(block))]
        """Known objects in hand: into their bin, or from the start bin to the common bin."""
        self.shared = {entry.action.item for entry in seen.history if entry.ok and isinstance(entry.action, Share)}
        """Items shared successfully by either player."""
        self.news = [item for item in seen.items if item not in self.shared and not self.obsolete(item)]
        """Items worth sharing: neither shared nor obsolete."""
        self.asked = last.block if isinstance(last, Ask) else None
        """The object that the partner has just asked for."""
        self.answers = [] if self.asked is None else [item for item in self.news if puzzles.mentions(item, self.asked)]
        """Items worth telling that answer the partner's question."""
        self.own_asks = {entry.action.block for entry in own if isinstance(entry.action, Ask)}
        failed = [entry.action for entry in own if not entry.ok and isinstance(entry.action, Move)]
        self.own_failures = [move for move in failed if move.block in self.blocks and seen.positions[move.block] != move.target]
        """Own moves shown as failed after which the object is not where it was to go."""

    def useful_move(self, block: int) -> Move | None:
        """Give the right move of a known object in hand, if there is one."""
        place, goal = self.seen.positions[block], self.goals[block]
        target = goal if goal in self.own_bins else puzzles.COMMON
        return None if place == target else Move(block, place, target)

    def obsolete(self, item: puzzles.Item) -> bool:
        """Tell whether all objects of an item are in destination bins."""
        return all(self.seen.positions[block] in puzzles.DESTINATIONS for block in self.blocks if puzzles.mentions(item, block))


class StatedThought(NamedTuple):
    """What the thoughts say of an object."""

    block: int
    goal: puzzles.Bin | None
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
    placing = [move for move in mind.useful_moves if move.target != puzzles.COMMON]
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
    open_items = [item for item in mind.news if any(puzzles.mentions(item, block) for block in away)]
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
        ideas = [Move(block, mind.start_bin, puzzles.COMMON) for block in there if block not in mind.goals]
    if not ideas:
        return None
    move = rng.choice(ideas)
    return Intent(SENSE, move, "guess", (StatedThought(move.block, None),))


_ORDER: Final[tuple[Habit, ...]] = (_answer, useful_move, _tell, _ask, _guess)
