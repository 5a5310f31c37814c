"""Packages: data files in ours, extras that bring optional ones, slow imports that are avoided, and what other people's packages add.

A package offers a folder of rubric files as `cotrace.rubrics` (the value is the package that holds the files), engine checks as
`cotrace.checks` (a module with a dict `CHECKS`, as in `judges.checks`), a game family as `cotrace.families` (a
`schemas.families.Family`), and a log format as `cotrace.formats` (a module that is an `ingest.reading.adapter_types.Adapter`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from schemas.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def packaged_text(package: str, name: str) -> str:
    """What a file of a package holds."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def packaged_yaml(package: str, name: str) -> Any:
    """What a YAML file of a package holds, read by libyaml where PyYAML has it: in a twentieth of the time."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(packaged_text(package, name), loader)  # noqa: S506 - both are safe


_OF_EXTRAS: Final[Mapping[str, str]] = {
    "judge": "aiohttp certifi genai_prices httpx instructor openai yarl",
    "optimize": "dspy optuna",
    "dash": "dash dash_ag_grid flask plotly waitress werkzeug",
    "inspect": "inspect_ai",
    "hanabi": "pyspiel",
    "notebook": "pandas",
    "litellm": "litellm",
    "bedrock": "aiobotocore botocore",
    "anthropic": "anthropic",
    "google": "google",
    "mistral": "mistralai",
    "lake": "deltalake",
    "s3": "fsspec s3fs",
    "gcs": "gcsfs",
    "ray": "ray",
}
EXTRAS: Final[Mapping[str, str]] = {package: extra for extra, packages in _OF_EXTRAS.items() for package in packages.split()}
"""Package as it is imported -> extra."""


def needed(package: str, what: str) -> None:
    """See that a package is there.

    Raises:
        UsageError: it is not installed.
    """
    try:
        found = find_spec(package)
    except ModuleNotFoundError:  # not even the package that it is in
        found = None
    if found is None:
        raise UsageError(f"{what} needs the package {install_hint(package)}")


def install_hint(package: str | None) -> str | None:
    """The package and the command that installs it; None for one that no extra brings."""
    root = (package or "").partition(".")[0]
    return f'{root}: pip install "cotrace[{EXTRAS[root]}]"' if root in EXTRAS else None


@cache
def arrow_without_pandas() -> None:
    """Have Arrow make its first array while pandas cannot be found.

    Before its first array Arrow imports pandas if it is there, in case what it is given is a Series: that takes longer than reading fifty
    games. It asks again where it needs pandas, such as in `to_pandas`, so nothing is lost.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    with _hidden("pandas"):
        pa.array([""])


@cache
def pandera_without_pandas() -> None:
    """Import `pandera.polars` as where pandas is not installed, which takes a sixth of the time.

    `pandera.pandas` can be imported all the same; only the names that `pandera` itself had for pandas, out of use now, are not there.
    """
    if {"pandas", "pandera"}.intersection(sys.modules):
        return
    with _hidden("pandas"), _hidden("hypothesis"):  # both are looked for once more at the first check
        import pandera.polars as pa_polars
        import polars as pl

        columns, rows = {"a": pa_polars.Column(checks=pa_polars.Check.ge(0))}, pl.DataFrame({"a": [0]})
        pa_polars.DataFrameSchema(columns, checks=pa_polars.Check(lambda data: data.lazyframe.select(pl.lit(value=True)))).validate(rows)


class _Hiding:
    """A finder that comes before all others and reports, for the thread that made it, that a module is not there."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002 - the protocol's
        if fullname == self._name and get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
        return None


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    finder = _Hiding(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def rubric_folders() -> list[Path]:
    """Folders of rubric files that installed packages offer, by the name of the entry point.

    Raises:
        UsageError: an entry point cannot be imported, or has no folder.
    """
    return [folder for point in points("cotrace.rubrics") for folder in _folders(point)]


def check_sets() -> dict[str, Mapping[str, Any]]:
    """Where checks come from -> checks by name, of installed packages.

    Raises:
        UsageError: an entry point cannot be imported, or its module has no dict `CHECKS`.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for point in points("cotrace.checks"):
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
    return {_home(point): _loaded(point) for point in points(group)}


@cache  # looking through all installed packages takes as long as a query
def points(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name; what is installed while a process runs is found by the next one."""
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def _folders(point: EntryPoint) -> Iterator[Path]:
    places = getattr(_loaded(point), "__path__", None)
    if not places:
        raise UsageError(f"{_home(point)}: {point.value} is not a package with rubric files: name the package that holds them")
    yield from map(Path, places)


def _loaded(point: EntryPoint) -> Any:
    """The place where whatever a foreign package throws becomes one line that names the package."""
    try:
        return point.load()
    except Exception as error:
        raise UsageError(f"{_home(point)} cannot be imported ({type(error).__name__}: {error}): repair or uninstall the package") from error


def _home(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "an installed package"
    return f"entry point {point.group} {point.name} of {package}"
