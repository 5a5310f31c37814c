"""The game families: the one list of them, and how a package finds what a family brings to it.

A family is an entry of `families.yaml`, and modules of agreed names in the packages: `<package>.<family>.<module>`, such as
`games.craft.game`. docs/families.md lists, for each family, what it brings and what it lacks. Another distribution adds a family through
the entry point group `cotrace.families`: its value is a `Family` whose `package` holds the same folders, so that
`<package>.games.experiment` means `games.<family>.experiment`.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from schemas.common.errors import UsageError
from schemas.common.packages import loaded, packaged_yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A game family: one benchmark system and all of its games."""

    name: str
    """As in the column `benchmark`, in metric names and in module names."""
    title: str
    """As people write it."""
    score: str
    """What its main number, `episodes.score`, is: the metric's name."""
    score_unit: str
    """Unit or range of the main number."""
    score_words: str = ""
    """What it is in words; empty: the metric's name without its marks."""
    game_scores: dict[str, str] = field(default_factory=dict)
    """Game -> what its score is, in words, where the family's games have scores of different units: they are counted by game."""
    counted_turns: str = ""
    """Which turns its failure categories are shares of, in words; empty: those that its rules could classify."""
    spirals: bool = True
    """Whether its states can stay or come back; where every turn makes a new one there can be no correction spirals."""
    roles: tuple[str, ...]
    """What its agents can be, in the order in which they act first."""
    plays: dict[str, str]
    """Verb of `cotrace play` -> one line of help."""
    examples: tuple[str, ...] = ()
    """Of each verb one: what is behind `cotrace play`."""
    package: str = ""
    """Where its modules lie, of a family from another distribution; empty: in our packages."""

    def path(self, layer: str, name: str) -> str:
        """The dotted path of one of its modules."""
        return f"{self.package}.{layer}.{name}" if self.package else f"{layer}.{self.name}.{name}"


_LISTS: Final[Mapping[str, Any]] = packaged_yaml(__package__, "families.yaml")
FAMILIES: Final = tuple(Family(**known | {name: tuple(known[name]) for name in ("roles", "examples")}) for known in _LISTS["families"])
FOREIGN: Final[Mapping[str, str]] = _LISTS["foreign"]
MODULES: Final = tuple(tuple(module) for module in _LISTS["modules"])


@cache
def families() -> tuple[Family, ...]:
    """Our own families, then those of installed packages by the name of their entry point.

    Raises:
        UsageError: an entry point cannot be imported or is not a `Family`, or a name is taken twice.
    """
    found = list(FAMILIES)
    for home, value in loaded("cotrace.families").items():
        if not isinstance(value, Family):
            raise UsageError(f"{home}: its value is not a schemas.families.Family: name the object, as in `package.module:FAMILY`")
        if not value.package:
            raise UsageError(f"{home}: the family {value.name!r} names no package: name the one that holds its folders")
        if any(value.name == known.name for known in found):
            raise UsageError(f"{home}: there is a family {value.name!r} already: rename it, or uninstall the package")
        found.append(value)
    return tuple(found)


def family(name: str) -> Family | None:
    """The family of a benchmark; None for a benchmark that is played elsewhere and only read here."""
    return next((known for known in families() if known.name == name), None)


def games_apart(benchmark: str) -> bool:
    """Whether the games of a benchmark have scores of different units; False for one that is only read here."""
    known = family(benchmark)
    return known is not None and bool(known.game_scores)


def can_spiral(benchmark: str) -> bool:
    """Whether a benchmark can have correction spirals; True for one that is only read here."""
    known = family(benchmark)
    return known is None or known.spirals


def title_of(benchmark: str) -> str:
    """A benchmark as people write it; the name itself where it is of no family and of no format of others."""
    known = family(benchmark)
    return known.title if known else FOREIGN.get(benchmark, benchmark)


@cache
def module(name: str, layer: str, wanted: str) -> ModuleType | None:
    """A family's module of an agreed name; None if it has none.

    Raises:
        UsageError: a module of another distribution cannot be imported.
    """
    known = family(name)
    if known is None or not _exists(known.path(layer, wanted)):
        return None
    path = known.path(layer, wanted)
    if not known.package:
        return importlib.import_module(path)
    try:
        return importlib.import_module(path)
    except Exception as error:
        raise UsageError(
            f"family {name}: {path} cannot be imported ({type(error).__name__}: {error}): repair or uninstall its package"
        ) from error


def modules(layer: str, wanted: str, names: Iterable[str] | None = None) -> Iterator[tuple[str, ModuleType]]:
    """Name of the family and its module, of all families that have it; of those `names`, None: all there are."""
    for name in (known.name for known in families()) if names is None else names:
        found = module(name, layer, wanted)
        if found is not None:
            yield name, found


def offered(layer: str, wanted: str, attribute: str, names: Iterable[str] | None = None) -> Iterator[tuple[str, Any]]:
    """Name of the family and what its module offers under a name, of all families that offer it; of those `names`, None: all there are."""
    for name, found in modules(layer, wanted, names):
        if hasattr(found, attribute):
            yield name, getattr(found, attribute)


def _exists(path: str) -> bool:
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:  # a folder above it is missing
        return False
