"""Engine checks: deterministic answers to a rubric's questions, given only where they can be proved."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from judges.evidence.transcript import Transcript
from schemas.errors import UsageError
from schemas.families import offered
from schemas.plugins import check_sets

__all__ = ["Check", "Decision", "all_checks", "find"]


class Decision(NamedTuple):
    """What a check found out."""

    answer: str | None
    """One of the rubric's answers, or None: it cannot be proved (verdict status `undecided`)."""
    reason: str
    """The evidence, or what is missing for a proof."""


Check = Callable[[Transcript, int, str | None], Decision]
"""(game, turn from 1 (0: the whole game), agent or None for the group) -> decision."""


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check there is, by name: our own, and those of installed packages (`schemas.plugins`).

    Raises:
        UsageError: two places offer a check of the same name (names both), or a package's entry point is broken.
    """
    found: dict[str, Check] = {}
    home: dict[str, str] = {}
    of_families = {f"family {name}": checks for name, checks in offered("judges", "checks", "CHECKS")}
    by_rule = {"judges.engine.failure_checks": importlib.import_module("judges.engine.failure_checks").CHECKS}
    for place, checks in (of_families | by_rule | check_sets()).items():
        for name, check in checks.items():
            if name in found:
                raise UsageError(f"engine check {name} stands in {home[name]} and in {place}: rename one of them")
            found[name] = check
            home[name] = place
    return found


def find(name: str) -> Check:
    """The check of that name.

    Raises:
        UsageError: there is none; suggests the nearest name.
    """
    import difflib

    checks = all_checks()
    if name not in checks:
        near = difflib.get_close_matches(name, checks, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(checks))}"
        raise UsageError(f"there is no engine check {name}: {hint}")
    return checks[name]
