"""What other people's packages add, found through entry points.

A package offers a folder of rubric files as `cotrace.rubrics` (the value is the package that holds the files), engine checks as
`cotrace.checks` (a module with a dict `CHECKS`, as in `judges.engine.checks`), a game family as `cotrace.families` (a
`schemas.families.Family`), and a log format as `cotrace.formats` (a module that is an `ingest.reading.adapter_types.Adapter`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from schemas.common.errors import UsageError

__all__ = ["check_sets", "loaded", "rubric_folders"]


def rubric_folders() -> list[Path]:
    """Folders of rubric files that installed packages offer, by the name of the entry point.

    Raises:
        UsageError: an entry point cannot be imported, or has no folder.
    """
    return [folder for point in _points("cotrace.rubrics") for folder in _folders(point)]


def check_sets() -> dict[str, Mapping[str, Any]]:
    """Where checks come from -> checks by name, of installed packages.

    Raises:
        UsageError: an entry point cannot be imported, or its module has no dict `CHECKS`.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for point in _points("cotrace.checks"):
        checks = getattr(_loaded(point), "CHECKS", None)
        if not isinstance(checks, Mapping):
            raise UsageError(f"{_home(point)}: {point.value} has no dict CHECKS (name -> check): add one, or uninstall the package")
        found[_home(point)] = checks
    return found


def loaded(group: str) -> dict[str, Any]:
    """Where something comes from, in words -> what the entry point of the group names, of installed packages.

    Raises:
        UsageError: an entry point cannot be imported.
    """
    return {_home(point): _loaded(point) for point in _points(group)}


def _points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def _folders(point: EntryPoint) -> Iterator[Path]:
    places = getattr(_loaded(point), "__path__", None)
    if not places:
        raise UsageError(f"{_home(point)}: {point.value} is no package with rubric files: name the package that holds them")
    yield from map(Path, places)


def _loaded(point: EntryPoint) -> Any:
    """The place where whatever a foreign package throws becomes one line that names the package."""
    try:
        return point.load()
    except Exception as error:
        raise UsageError(f"{_home(point)} cannot be imported ({type(error).__name__}: {error}): mend or uninstall the package") from error


def _home(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "an installed package"
    return f"entry point {point.group} {point.name} of {package}"
