"""What a player can work out from what it is shown, and remembers."""

from dataclasses import dataclass
from functools import cached_property

from games.einstein.engine.actions import Ask, Move, Share
from games.einstein.engine.bins import COMMON, DESTINATIONS, OWN_DESTINATIONS, START_BINS, Bin
from games.einstein.engine.items import Grounding, Item, mentions
from games.einstein.engine.knowledge import infer_goals
from games.einstein.engine.modes import ALLOWED, Verbs
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
    def told(self) -> set[Item]:
        """Items shared successfully by either player."""
        return {entry.action.item for entry in self.seen.history if entry.ok and isinstance(entry.action, Share)}

    def obsolete(self, item: Item) -> bool:
        """Tell whether all objects of an item are in destination bins."""
        return all(self.seen.positions[block] in DESTINATIONS for block in self.blocks if mentions(item, block))

    @cached_property
    def news(self) -> list[Item]:
        """Items worth telling: neither told nor obsolete."""
        return [item for item in self.seen.items if item not in self.told and not self.obsolete(item)]

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
