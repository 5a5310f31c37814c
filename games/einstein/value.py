"""How many steps an Einstein game still needs, at best (formats/values.md, section 1).

With perfect knowledge, and with what the two players can know. For the latter, the search is asked whether the goal is within so many
steps; it tries what the player to move can do, deeper and deeper, and stores what it has proven of each state for all positions of the
game. The steps with perfect knowledge bound the steps left from below.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from games.einstein.engine.actions import Ask
from games.einstein.engine.puzzle import ALLOWED, COMMON, OWN_DESTINATIONS, PLAYERS, START_BINS, Bin, Player, Puzzle
from games.einstein.engine.table import Setting, Table, bits, closure, items_mask
from games.einstein.replay import Step


@cache
def steps_left(finish: int, hand_over: int, partner_finishes: int, partner_hands_over: int) -> int:
    """Steps to the goal, the players alternating, passes counted.

    Args:
        finish: objects that the player to move can put into their goal bins now.
        hand_over: objects in its start bin whose goals are on the other side.
        partner_finishes: the same for the partner.
        partner_hands_over: the same for the partner.
    """
    a, u, b, v = finish, hand_over, partner_finishes, partner_hands_over
    if not (a or u or b or v):
        return 0
    if not (a or u):
        return 1 + steps_left(b, v, a, u)
    finishing = [steps_left(b, v, a - 1, u)] if a else []
    handing_over = [steps_left(b + 1, v, a, u - 1)] if u else []
    return 1 + min(finishing + handing_over)


def hands(puzzle: Puzzle, table: Table) -> int:
    """Steps from a position to the goal, whoever knows what; each step on the table counts, a pass too."""
    return hands_at(puzzle.goals, table.positions, table.player)


def hands_at(goals: Sequence[Bin], positions: Sequence[Bin], player: Player) -> int:
    """The same from where each object is and belongs, with who is to move."""
    return steps_left(*_work(goals, positions, player), *_work(goals, positions, PLAYERS[1 - player]))


def _work(goals: Sequence[Bin], positions: Sequence[Bin], player: Player) -> tuple[int, int]:
    finish = hand_over = 0
    for place, goal in zip(positions, goals, strict=True):
        if place == goal:
            continue
        on_this_side = goal in OWN_DESTINATIONS[player]
        finish += on_this_side and place in (COMMON, START_BINS[player])
        hand_over += not on_this_side and place == START_BINS[player]
    return finish, hand_over


_NOTHING: Final = -1


class _State(NamedTuple):
    """What counts for the steps left. Sets of objects and items are masks as in `games.einstein.engine.table`."""

    common: int
    placed: int
    seen: int
    """Objects that were ever put into their goal bins: both players know where they belong."""
    received: tuple[int, int]
    closed: int
    """Items that only one player holds and need not share any more, though an object of theirs is on its way again."""
    player: int
    asked: int
    """The object that the partner has just asked about, where only that lets the player share; else -1."""


_Successor = tuple[int, _State]
"""Steps and the state they lead to."""


class Search:
    """Steps left in the positions of one game.

    A *planner* passes only where it can do nothing else, and an ask with its answer is one action of two steps after which the asker goes
    on: that is the published planner, from any position. Else a player may always pass, and an ask is a step that lets the partner reply.
    """

    def __init__(self, setting: Setting, *, planner: bool, easier: "Search | None" = None) -> None:
        """Begin; what a search has proven that takes no more steps from any state saves this one work."""
        puzzle = setting.puzzle
        blocks = range(puzzle.num_objects)
        equal = setting.modes[0] == setting.modes[1]
        self._puzzle, self._planner, self._silent = puzzle, planner, setting.modes == ("none", "none")
        self._verbs = [ALLOWED[mode] for mode in setting.modes]
        self._replies = [verbs.reply and not verbs.share and (equal or setting.rules.replies_in_mixed_pairs) for verbs in self._verbs]
        self._has_to_ask = [self._replies[1 - who] for who in PLAYERS]
        self._start_side = [sum(1 << block for block in blocks if puzzle.starts[block] == start) for start in START_BINS]
        self._goal_side = [sum(1 << block for block in blocks if puzzle.goals[block] in own) for own in OWN_DESTINATIONS]
        self._about = [1 << index | 1 << (puzzle.anchors[index] if index else 0) for index in blocks]
        self._everything = (1 << puzzle.num_objects) - 1
        self._proven: dict[_State, tuple[int, float]] = {}
        """Steps it takes at least and at most."""
        self._easier = easier._proven if easier else {}  # noqa: SLF001 - another of the same kind
        self._follows: dict[tuple[int, int], int] = {}

    def steps(self, table: Table) -> int | None:
        """Give the steps left in a position of the game; None if the goal is out of reach, since it is unknown what a player has to know.

        Where no player can talk they are those of perfect hands: a right guess is always possible.
        """
        if self._silent:
            return hands(self._puzzle, table)
        places = list(enumerate(table.positions))
        placed = sum(1 << block for block, place in places if place == self._puzzle.goals[block])
        received = items_mask(table.held[0]), items_mask(table.held[1])
        flagged = (received[0] & ~received[1] & table.flags[0]) | (received[1] & ~received[0] & table.flags[1])
        previous = table.previous
        state = _State(
            common=sum(1 << block for block, place in places if place == COMMON),
            placed=placed,
            seen=placed | table.placed,
            received=received,
            closed=sum(1 << item for item in bits(flagged) if self._about[item] & ~placed),
            player=table.player,
            asked=previous.block if isinstance(previous, Ask) and self._replies[table.player] else _NOTHING,
        )
        if not self._reaches(state):
            return None
        limit = self._bounds(state)[0]
        while not self._within(state, limit):
            limit += 1
        return limit

    def _reaches(self, state: _State) -> bool:
        """Whether the goal can be reached at all: no action takes away what else can be done, so all are done at once.

        Only the chance to answer a question passes by: what else is done there instead is looked at case by case.
        """
        if state.asked != _NOTHING:
            return any(self._reaches(after._replace(asked=_NOTHING)) for _, after in self._successors(state))
        before = None
        while state != before:
            before = state
            for player in PLAYERS:
                for _, after in [*self._actions(state._replace(player=player))]:
                    for _, found in ((0, after), *(self._shares(after) if after.asked != _NOTHING else ())):
                        state = state._replace(
                            common=state.common | found.common,
                            placed=state.placed | found.placed,
                            seen=state.seen | found.seen,
                            received=(state.received[0] | found.received[0], state.received[1] | found.received[1]),
                        )
        return state.placed == self._everything

    def _bounds(self, state: _State) -> tuple[int, float]:
        """Steps at least and at most, as far as is known."""
        known = self._proven.get(state)
        if known is None:
            least = self._easier[state][0] if state in self._easier else self._least(state)
            known = self._proven[state] = least, 0 if state.placed == self._everything else inf
        return known

    def _least(self, state: _State) -> int:
        """Bound the steps left: what hands need that know everything, and that besides make the shares and asks that must be made."""
        common, placed, seen, received, _, me, asked = state
        finish, hand_over = [0, 0], [0, 0]
        for who in PLAYERS:
            goal, start = self._goal_side[who], self._start_side[who]
            here, there = goal & ~placed, start & ~goal & ~(common | placed)
            missing = self._missing(who, received[who], seen, here | there)
            asks = max(0, missing - (who != me and asked >= 0)) if self._has_to_ask[who] else 0
            finish[who] += (here & (common | start)).bit_count() + asks
            finish[1 - who] += missing
            hand_over[who] = there.bit_count()
        return steps_left(finish[me], hand_over[me], finish[1 - me], hand_over[1 - me])

    def _missing(self, player: int, received: int, seen: int, objects: int) -> int:
        """How many items a player must receive at least to know some objects, even if it sees all that its partner has to place."""
        unknown = objects & ~self._known(received, seen | self._goal_side[1 - player])
        count = 0
        while unknown:  # a group of objects that items of the player tie together needs an item from outside
            unknown &= ~self._known(received & ~1, unknown & -unknown)
            count += 1
        return count

    def _known(self, received: int, seen: int) -> int:
        """The objects whose goals follow."""
        known = self._follows.get((received, seen))
        if known is None:
            known = self._follows[received, seen] = closure(self._puzzle, received, seen)
        return known

    def _within(self, state: _State, limit: int) -> bool:
        """Whether the goal is within so many steps."""
        least, most = self._bounds(state)
        if limit < least:
            return False
        if limit >= most:
            return True
        for steps, after in self._successors(state):
            if self._within(after, limit - steps):
                self._proven[state] = least, limit
                return True
        self._proven[state] = limit + 1, most
        return False

    # -- what the player to move can do ---------------------------------------------------------------

    def _successors(self, state: _State) -> Iterator[_Successor]:
        found = False
        for successor in self._actions(state):
            found = True
            yield successor
        if not (found and self._planner):
            yield 1, _State(state.common, state.placed, state.seen, state.received, state.closed, 1 - state.player, _NOTHING)

    def _actions(self, state: _State) -> Iterator[_Successor]:
        known, verbs = self._known(state.received[state.player], state.seen), self._verbs[state.player]
        common, placed, seen, received, closed, player, _ = state
        start, goal = self._start_side[player], self._goal_side[player]
        for block in bits(known & goal & ~placed & (common | start)):
            bit = 1 << block
            yield 1, _State(common & ~bit, placed | bit, seen | bit, received, closed, 1 - player, _NOTHING)
        for block in bits(known & ~goal & start & ~common & ~placed):
            yield 1, _State(common | 1 << block, placed, seen, received, closed, 1 - player, _NOTHING)
        if verbs.share or state.asked >= 0:
            yield from self._shares(state)
        unknown = self._everything & ~known
        if verbs.ask and unknown:
            yield from self._planned_asks(state, unknown) if self._planner else self._asks(state, unknown)

    def _shares(self, state: _State) -> Iterator[_Successor]:
        """Items that the partner lacks and that are not obsolete; as a reply, those about the object asked for."""
        common, placed, seen, received, closed, player, asked = state
        for item in bits(received[player] & ~received[1 - player] & ~closed):
            about = self._about[item]
            if about & ~placed and (asked < 0 or about >> asked & 1):
                yield 1, _State(common, placed, seen, (received[0] | 1 << item, received[1] | 1 << item), closed, 1 - player, _NOTHING)

    def _asks(self, state: _State, unknown: int) -> Iterator[_Successor]:
        """Asks that let a partner reply who could not share else."""
        if self._replies[1 - state.player]:
            for block in bits(unknown):
                yield 1, _State(state.common, state.placed, state.seen, state.received, state.closed, 1 - state.player, block)

    def _planned_asks(self, state: _State, unknown: int) -> Iterator[_Successor]:
        """Every ask together with every answer to it."""
        partner = 1 - state.player
        if not self._verbs[partner].reply:
            return
        for item in bits(state.received[partner]):
            if self._about[item] & unknown:
                yield 2, state._replace(received=(state.received[0] | 1 << item, state.received[1] | 1 << item), asked=_NOTHING)


class Distances(NamedTuple):
    """Steps left in a position."""

    hands: int
    """For players who know everything."""
    plan: int | None
    """By the published planner, which passes only where it can do nothing else; None: out of its reach."""
    know: int | None
    """For players who know what they received and can talk; None: no agent can share what a player has to know."""


def distances(setting: Setting, steps: Sequence[Step]) -> Iterator[tuple[Distances, Distances]]:
    """Give the steps left before and after each step."""
    return pairwise(values(setting, [step.before for step in steps] + [steps[-1].outcome.table] if steps else []))


def values(setting: Setting, tables: Iterable[Table]) -> Iterator[Distances]:
    """Value positions of one game, in any order; what is proven of one helps with the others."""
    known = Search(setting, planner=False)
    planned = Search(setting, planner=True, easier=known)
    for table in tables:
        know = known.steps(table)  # first: it saves the planner work
        yield Distances(hands(setting.puzzle, table), planned.steps(table), know)
