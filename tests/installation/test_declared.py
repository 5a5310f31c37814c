"""What an installation brings along, as pyproject.toml declares it: a file that is forgotten there is missed only by those who install."""

from __future__ import annotations

import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from cotrace.rooms import ROOMS
from tests.places import ROOT

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


def tracked(*folders: str) -> list[Path]:
    """Files of the source, from its root."""
    named = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [Path(name) for name in named.split("\0") if name]


def test_every_file_of_the_rooms_is_installed() -> None:
    """Code, and what code reads: word lists, rubrics, views, pages."""
    patterns = ["*.py", *SETUPTOOLS["package-data"]["*"]]
    files = tracked("cotrace", *ROOMS)
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
