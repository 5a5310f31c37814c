"""What is imported is brought by the core or by an extra that is named where it is missing."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from cotrace.packages import PACKAGES
from schemas.common.errors import UsageError
from schemas.common.packages import EXTRAS, needed
from tests.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)(?:[. ,].*)?$", re.MULTILINE)
TRIED = {"tiktoken"}
"""Imported where it happens to be there; its lack is told with another name for it."""


def names(requirements: list[str]) -> set[str]:
    """Distributions, as the index spells them."""
    return {re.split(r"[\[<>= ]", one)[0].lower().replace("_", "-") for one in requirements}


def imported() -> set[str]:
    """Packages that ours import, those of Python and the rooms apart."""
    sources = [path for name in ("cotrace", *PACKAGES) for path in (ROOT / name).rglob("*.py")]
    found = {name for path in sources for name in IMPORT.findall(_code(path))}
    return {name for name in found if name not in sys.stdlib_module_names} - {"cotrace", *PACKAGES}


def _code(path: Path) -> str:
    """Without docstrings, in which words stand at the beginning of lines."""
    return re.sub(r'"""[\s\S]*?"""', "", path.read_text("utf-8"))


def test_every_package_comes_with_the_core_or_an_extra() -> None:
    """Otherwise an installation without pins breaks at the first use, with a traceback."""
    known, core = packages_distributions(), names(PROJECT["dependencies"])
    homeless = {
        name for name in imported() - TRIED if name not in EXTRAS and not {one.lower().replace("_", "-") for one in known[name]} & core
    }
    assert homeless == set()


def test_every_extra_that_is_named_is_one() -> None:
    """And `all` has them all."""
    offered = PROJECT["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(offered)
    (everything,) = offered["all"]
    assert set(re.findall(r"\w+", everything)[1:]) == set(offered) - {"all", "dev", "docs", "mutants"}


@pytest.mark.parametrize("group", ["core", *PROJECT["optional-dependencies"]])
def test_every_dependency_has_a_floor_and_a_ceiling(group: str) -> None:
    """So that the oldest pip does not look for a set of releases of years ago."""
    asked = PROJECT["dependencies"] if group == "core" else PROJECT["optional-dependencies"][group]
    assert [one for one in asked if not one.startswith("cotrace[") and not re.search(r">=[\d.]+,<[\d.]+$", one)] == []


def test_what_is_missing_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a line that can be pasted."""
    monkeypatch.setattr("schemas.common.packages.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'^the dashboard needs the package dash: pip install "cotrace\[dash\]"$'):
        needed("dash", "the dashboard")
