"""Engine checks: deterministic answers to a rubric's questions, given only where they can be proved; and how they are found by name."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial, wraps
from typing import Final, NamedTuple, TypeVar

from judges.evidence.transcript import Transcript
from schemas.common.errors import UsageError
from schemas.common.packages import check_sets
from schemas.common.text import near
from schemas.families import families, offered

T = TypeVar("T")

_GAMES: Final = 4


def cached_for_recent(prepare: Callable[[Transcript], T]) -> Callable[[Transcript], T]:
    """Keep what is prepared of the last few games, so that all checks of a game share the work.

    A game is known by being the same object: a transcript is large, and cannot be hashed.
    """
    recent: deque[tuple[Transcript, T]] = deque(maxlen=_GAMES)

    @wraps(prepare)
    def prepared(transcript: Transcript) -> T:
        for known, found in recent:
            if known is transcript:
                return found
        recent.append((transcript, prepare(transcript)))
        return recent[-1][1]

    return prepared


class Decision(NamedTuple):
    """What a check found out."""

    answer: str | None
    """One of the rubric's answers, or None: it cannot be proved (verdict status `undecided`)."""
    reason: str
    """The evidence, or what is missing for a proof."""


Check = Callable[[Transcript, int, str | None], Decision]
"""(game, turn from 1 (0: the whole game), agent or None for the group) -> decision."""


def failure_checks(names: Iterable[str] | None = None) -> dict[str, Check]:
    """Check name -> check, one for each taxonomy that these families (None: all) name in `judges.<family>.checks.TAXONOMIES`."""
    return {
        f"failures.{taxonomy}": partial(_category, taxonomy, nothing)
        for _, taxonomies in offered("judges", "checks", "TAXONOMIES", names)
        for taxonomy, nothing in taxonomies.items()
    }


def _category(taxonomy: str, nothing: str | None, game: Transcript, turn: int, agent: str | None) -> Decision:
    """The categories of the agent's turn, joined by |: its own, else those of the turn as a whole; undecided where the rules give none.

    `nothing` is the category of a turn in which several could hold and none does; None: every judged turn has exactly one.
    """
    ruled = [found for found in game.turn(turn).failures if found.taxonomy == taxonomy]
    given = [found for found in ruled if found.agent == agent] or [found for found in ruled if found.agent is None]
    if not given:
        return Decision(None, f"the rules of {taxonomy} have no category for this agent on this turn")
    categories = list(dict.fromkeys(found.category for found in given))
    evidence = "; ".join(dict.fromkeys(found.evidence for found in given if found.evidence)) or "the rule gives no evidence"
    if nothing is None and len(categories) > 1:
        return Decision(None, f"the rules gave {' and '.join(categories)}: the agent did several such things on this turn")
    return Decision("|".join("none" if category == nothing else category for category in categories), evidence)


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check there is, by name: our own, and those of installed packages (`schemas.common.packages`).

    Raises:
        UsageError: two places offer a check of the same name (names both), or a package's entry point is broken.
    """
    found: dict[str, Check] = {}
    home: dict[str, str] = {}
    of_families = {f"family {name}": checks for name, checks in offered("judges", "checks", "CHECKS")}
    by_rule = {"judges.checks": failure_checks()}
    for place, checks in (of_families | by_rule | check_sets()).items():
        for name, check in checks.items():
            if name in found:
                raise UsageError(f"engine check {name} is in {home[name]} and in {place}: rename one of them")
            found[name] = check
            home[name] = place
    return found


def find(name: str) -> Check:
    """The check of that name; loads the family whose name it begins with, and all others only where that has none.

    Raises:
        UsageError: there is none; suggests the nearest name.
    """
    own = [known.name for known in families() if name.removeprefix("failures.").startswith(known.name)]
    found = {name: check for _, checks in offered("judges", "checks", "CHECKS", own) for name, check in checks.items()} | failure_checks(
        own
    )
    checks = found if name in found else all_checks()
    if name not in checks:
        raise UsageError(f"there is no engine check {name}{near(name, sorted(checks))}")
    return checks[name]
