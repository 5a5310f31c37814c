"""The engine checks that there are, found by name: those of the families, those by rule, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from judges.engine.checks import Check
from judges.engine.failure_checks import failure_checks
from schemas.errors import UsageError
from schemas.families import offered
from schemas.plugins import check_sets
from schemas.text import near

__all__ = ["all_checks", "find"]


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check there is, by name: our own, and those of installed packages (`schemas.plugins`).

    Raises:
        UsageError: two places offer a check of the same name (names both), or a package's entry point is broken.
    """
    found: dict[str, Check] = {}
    home: dict[str, str] = {}
    of_families = {f"family {name}": checks for name, checks in offered("judges", "checks", "CHECKS")}
    by_rule = {"judges.engine.failure_checks": failure_checks()}
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
    checks = all_checks()
    if name not in checks:
        raise UsageError(f"there is no engine check {name}{near(name, sorted(checks))}")
    return checks[name]
