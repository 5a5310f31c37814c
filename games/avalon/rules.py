"""The rules of Avalon as played, and what they let each player prove: formats, sections 3 and 6.

A *world* gives each player a role. A world is possible for a player if it fits the player's role, what the role was shown at the start,
and every finished quest: at least as many evil players on the team as fail cards. Votes, messages and successes prove nothing. A set of
players is a bit mask of their positions at the table, position 0 the lowest bit; worlds are counted by their evil sets, each with the
number of ways to deal the roles over it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from schemas.common.errors import UsageError

EVIL: Final = frozenset({"assassin", "morgana", "mordred", "oberon", "evil"})
GOOD: Final = frozenset({"merlin", "percival", "good"})
ROLES: Final = ("merlin", "percival", "good", "assassin", "morgana", "mordred", "oberon", "evil")

LINEUPS: Final[Mapping[int, tuple[str, ...]]] = {
    5: ("merlin", "good", "good", "assassin", "evil"),
    6: ("merlin", "percival", "good", "good", "morgana", "mordred"),
    7: ("merlin", "percival", "good", "good", "morgana", "mordred", "oberon"),
    8: ("merlin", "percival", "good", "good", "good", "morgana", "mordred", "assassin"),
    9: ("merlin", "percival", "good", "good", "good", "good", "morgana", "mordred", "assassin"),
    10: ("merlin", "percival", "good", "good", "good", "good", "morgana", "mordred", "oberon", "assassin"),
}
"""Number of players -> the roles in play."""

SIZES: Final[Mapping[int, tuple[int, ...]]] = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}
"""Number of players -> team size of each mission."""

MISSIONS_TO_WIN: Final = 3
MOST_PROPOSALS: Final = 5
"""The fifth proposal of a mission goes through without a vote."""

_TWO_FAILS_FROM: Final = 7
_ACTS_AS_ASSASSIN: Final = {6: "mordred", 7: "morgana"}


def side(role: str | None) -> str | None:
    """``good`` or ``evil``; None of an unknown role."""
    return None if role is None else "evil" if role in EVIL else "good" if role in GOOD else None


def documented_fails(players: int, mission: int) -> int:
    """Fail cards that a mission needs to fail by the printed rules; as played, one is always enough."""
    return 2 if mission == 4 and players >= _TWO_FAILS_FROM else 1  # noqa: PLR2004 - the printed rule


def assassin_role(players: int) -> str:
    """The role whose player names Merlin in the lineup of that many players."""
    return _ACTS_AS_ASSASSIN.get(players, "assassin")


def sees(roles: Sequence[str], position: int) -> frozenset[int]:
    """The positions that a role is shown at the start; their order tells nothing."""
    shown: Mapping[str, Iterable[str]] = {
        "merlin": EVIL - {"mordred"},
        "percival": ("merlin", "morgana"),
        **dict.fromkeys(EVIL - {"oberon"}, EVIL - {"oberon"}),
    }
    wanted = shown.get(roles[position], ())
    return frozenset(other for other, role in enumerate(roles) if other != position and role in wanted)


class Quest(NamedTuple):
    """A finished quest."""

    team: int
    """Bit mask."""
    fails: int
    failed_by: int | None = None
    """Bit mask of who played a fail; None where the log does not say."""


Worlds = Mapping[int, int]
"""Evil set as a bit mask -> the ways to deal the roles over it."""


def mask(positions: Iterable[int]) -> int:
    """A set of positions as a bit mask."""
    return sum(1 << position for position in positions)


@lru_cache(maxsize=4096)
def worlds_at_start(bag: tuple[str, ...], position: int | None, role: str | None, shown: frozenset[int] | None) -> Worlds:
    """The worlds before the first quest.

    Args:
        bag: the roles in play, in any order.
        position: whose worlds; None: those of somebody who only knows the bag.
        role: the role at that position; only its side counts where `shown` is None.
        shown: the positions that the role was shown; None: as if the player knew the own side alone.
    """
    players, evil = len(bag), sum(role in EVIL for role in bag)
    found = {}
    for chosen in combinations(range(players), evil):
        fixed = {} if position is None or role is None or shown is None else _fixed(Counter(bag), position, role, shown, frozenset(chosen))
        if fixed is None or (position is not None and (position in chosen) != (role in EVIL)):
            continue
        ways = _deals(bag, fixed, frozenset(chosen))
        if ways:
            found[mask(chosen)] = ways
    return found


def _fixed(bag: Counter[str], position: int, role: str, shown: frozenset[int], evil: frozenset[int]) -> dict[int, str] | None:
    """Position -> the role that it must have if these are evil and the role was shown just that; None if that cannot be."""
    fixed = {position: role}
    if role == "merlin":
        hidden = evil - shown
        return fixed | dict.fromkeys(hidden, "mordred") if shown <= evil and len(hidden) == bag["mordred"] else None
    if role == "percival":
        bad, good = shown & evil, shown - evil
        fits = len(bad) == bag["morgana"] and len(good) == bag["merlin"]
        return fixed | dict.fromkeys(bad, "morgana") | dict.fromkeys(good, "merlin") if fits else None
    if role in EVIL - {"oberon"}:
        hidden = evil - shown - {position}
        return fixed | dict.fromkeys(hidden, "oberon") if shown <= evil and len(hidden) == bag["oberon"] else None
    return fixed


def _deals(bag: tuple[str, ...], fixed: Mapping[int, str], evil: frozenset[int]) -> int:
    """The ways to deal the roles that are left over the positions that are left; 0 if a fixed one is not there."""
    left = Counter(bag)
    left.subtract(fixed.values())
    if any(count < 0 for count in left.values()) or any((role in EVIL) != (position in evil) for position, role in fixed.items()):
        return 0
    ways = 1
    for of_side in (EVIL, GOOD):
        counts = [count for role, count in left.items() if role in of_side]
        ways *= math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
    return ways


def after_quests(worlds: Worlds, quests: Iterable[Quest], own: int | None = None) -> Worlds:
    """The worlds that the quests leave.

    Args:
        worlds: those at the start.
        quests: the finished ones.
        own: bit of an evil player who uses the own card too; None: own cards are not used.
    """
    left = worlds
    for team, fails, failed_by in quests:
        if fails and own is not None and failed_by is not None:
            others, needed = team & ~own, fails - bool(failed_by & own)
            left = {evil: ways for evil, ways in left.items() if (evil & others).bit_count() >= needed}
        elif fails:
            left = {evil: ways for evil, ways in left.items() if (evil & team).bit_count() >= fails}
    return left


@lru_cache(maxsize=8192)
def open_teams(worlds: frozenset[int], players: int, size: int) -> int:
    """How many teams of that size are not proven bad."""
    return sum(any(not evil & team for evil in worlds) for team in map(mask, combinations(range(players), size)))


class Verdict(NamedTuple):
    """What a player can prove of a team."""

    worlds: int
    """Evil sets that are possible for the player."""
    roles: int
    """Deals of roles that are possible."""
    bad_worlds: int
    """Evil sets with somebody of the team in them."""
    basis: str | None
    """Why it is proven bad: counts, sight, record or sight+record; None where it is not."""
    open_teams: int
    """Teams of the size that are not proven bad."""
    bad_as_informed: bool
    """Proven bad for a Percival who only knows that not both of those shown are evil."""
    bad_documented: bool
    """Proven to fail under the printed rule of two fails."""

    @property
    def bad(self) -> bool:
        """Every world has evil on the team."""
        return self.basis is not None

    @property
    def clean(self) -> bool:
        """No world has evil on the team."""
        return self.bad_worlds == 0


class Knowledge(NamedTuple):
    """What a player can prove between two quests; positions are bit masks."""

    evil_worlds: int
    role_worlds: int
    own_card: int
    """Evil sets if an evil player uses the own cards too."""
    good: int
    """Positions that are good in every world."""
    evil: int
    """Positions that are evil in every world."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What can be proven in a game whose roles are known."""

    roles: tuple[str | None, ...]
    """By position; None where the log does not say."""
    shown: tuple[frozenset[int] | None, ...]
    """By position, what the role was shown; None where the log does not say."""

    @property
    def bag(self) -> tuple[str, ...] | None:
        """The roles in play: as dealt or, where some are missing, the lineup that the others fit; None if neither is known."""
        known = [role for role in self.roles if role is not None]
        if len(known) == len(self.roles):
            return tuple(sorted(known)) if all(role in ROLES for role in known) else None
        lineup = LINEUPS.get(len(self.roles))
        return tuple(sorted(lineup)) if lineup and not Counter(known) - Counter(lineup) else None

    def start(self, position: int | None, *, sight: bool = True) -> Worlds | None:
        """The worlds of a position before the first quest; None where its role, or what it was shown, is not known."""
        bag = self.bag
        if bag is None:
            return None
        if position is None:
            return worlds_at_start(bag, None, None, None)
        role, shown = self.roles[position], self.shown[position]
        return None if role is None or shown is None else worlds_at_start(bag, position, role, shown if sight else None)

    def knowledge(self, position: int | None, quests: Sequence[Quest]) -> Knowledge | None:
        """What a position, or the public (None), can prove; None where it is not known, or the log contradicts the rules."""
        start = self.start(position)
        left = {} if start is None else after_quests(start, quests)
        if start is None or not left:
            return None
        is_evil = position is not None and self.roles[position] in EVIL
        own = after_quests(start, quests, 1 << position) if position is not None and is_evil else left
        everybody = (1 << len(self.roles)) - 1
        suspects = certain = next(iter(left))
        for evil in left:
            suspects, certain = suspects | evil, certain & evil
        return Knowledge(len(left), sum(left.values()), len(own), everybody & ~suspects, certain)

    def verdict(self, position: int | None, quests: Sequence[Quest], team: int, mission: int) -> Verdict | None:
        """What a position, or the public (None), can prove of a team; None where it is not known."""
        start = self.start(position)
        left = {} if start is None else after_quests(start, quests)
        if start is None or not left:
            return None
        bad = sum(bool(evil & team) for evil in left)
        needed = documented_fails(len(self.roles), mission)
        return Verdict(
            worlds=len(left),
            roles=sum(left.values()),
            bad_worlds=bad,
            basis=self._basis(position, quests, team) if bad == len(left) else None,
            open_teams=open_teams(frozenset(left), len(self.roles), team.bit_count()),
            bad_as_informed=_all_bad(self._as_informed(position, quests) or left, team),
            bad_documented=all((evil & team).bit_count() >= needed for evil in left),
        )

    def _basis(self, position: int | None, quests: Sequence[Quest], team: int) -> str:
        without = self.start(position, sight=False) or {}
        if _all_bad(without, team):
            return "counts"
        if _all_bad(self.start(position) or {}, team):
            return "sight"
        return "record" if _all_bad(after_quests(without, quests), team) else "sight+record"

    def _as_informed(self, position: int | None, quests: Sequence[Quest]) -> Worlds | None:
        if position is None or self.roles[position] != "percival":
            return None
        pair = mask(self.shown[position] or ())
        own_side = after_quests(self.start(position, sight=False) or {}, quests)
        return {evil: ways for evil, ways in own_side.items() if evil & pair != pair}


def _all_bad(worlds: Worlds, team: int) -> bool:
    return bool(worlds) and all(evil & team for evil in worlds)


def positions_of(masked: int) -> Iterator[int]:
    """The positions of a bit mask, lowest first."""
    return (position for position in range(masked.bit_length()) if masked >> position & 1)


def checked_players(players: int) -> int:
    """The number of players, if a lineup has so many.

    Raises:
        UsageError: there is none.
    """
    if players not in LINEUPS:
        raise UsageError(f"no Avalon lineup has {players} players: give {min(LINEUPS)} to {max(LINEUPS)}")
    return players
