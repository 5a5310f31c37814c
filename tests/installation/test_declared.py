"""What an installation brings along, as pyproject.toml declares it: a file that is forgotten there is missed only by those who install."""

from __future__ import annotations

import subprocess
import tomllib
from fnmatch import fnmatch
from importlib.metadata import distributions, metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

from cotrace.packages import PACKAGES
from tests.places import ROOT

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


def tracked(*folders: str) -> list[Path]:
    """Files of the source, from its root."""
    named = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [Path(name) for name in named.split("\0") if name]


def test_every_file_of_the_packages_is_installed() -> None:
    """Code, and what code reads: word lists, rubrics, views, pages."""
    patterns = ["*.py", *SETUPTOOLS["package-data"]["*"]]
    files = tracked("cotrace", *PACKAGES)
    assert len(files) > 500
    assert [str(path) for path in files if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_the_docs_are_installed_whole() -> None:
    """At the places to which their links go."""
    installed = {
        Path(folder, path.name).relative_to("share/doc/cotrace")
        for folder, patterns in SETUPTOOLS["data-files"].items()
        for pattern in patterns
        for path in ROOT.glob(pattern)
    }
    assert [str(path) for path in tracked("docs") if path not in installed] == []


def test_what_is_pinned_runs_on_the_oldest_python_that_is_promised() -> None:
    """Debian 12 has Python 3.11.2: a pin that wants a later 3.11 ends the set-up there."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.partition("==")[0] for line in lines if "==" in line]
    assert len(pinned) > 100
    known = {name: metadata(name) for name in pinned if installed(name)}
    wants = {name: found["Requires-Python"] for name, found in known.items() if "Requires-Python" in found}
    assert len(wants) > 100
    assert {name: want for name, want in wants.items() if "3.11.2" not in SpecifierSet(want)} == {}


def installed(name: str) -> bool:
    """Whether the distribution is here: some pins are of other systems."""
    return any(distributions(name=name))
