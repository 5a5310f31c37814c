"""Machine code that is kept on disk: made anew when anything that it was made from has changed, in whichever file it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

ENTRY = """
from games.compiled import compiled, compiled_inside
from helpers import FACTOR, Pair, scaled

@compiled
def value(number):
    return ahead(number) + scaled(Pair(number, 1))

@compiled_inside
def ahead(number):
    return FACTOR[0] * number

print(value(10))
"""

HELPERS = """
from typing import NamedTuple
import numpy as np
from games.compiled import compiled_inside
from deeper import STEP, lowered

FACTOR = np.array([100, 7])

class Pair(NamedTuple):
    left: int
    right: int

@compiled_inside
def scaled(pair):
    return lowered(pair.left) - 2 * pair.right + STEP
"""

DEEPER = """
from games.compiled import compiled_inside

STEP = 0

@compiled_inside
def lowered(number):
    return number - 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files that import one another, compiled once."""
    folder = tmp_path_factory.mktemp("compiled")
    written(folder)
    assert value(folder) == 1005
    return folder


def written(folder: Path, before: str = "", after: str = "") -> None:
    for name, text in {"entry": ENTRY, "helpers": HELPERS, "deeper": DEEPER}.items():
        (folder / f"{name}.py").write_text(text.replace(before, after), encoding="utf-8")


def value(folder: Path) -> int:
    """What a process of its own works out, with the machine code that others have left."""
    paths = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]),
        "NUMBA_CACHE_DIR": str(folder / "kept"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([sys.executable, "entry.py"], cwd=folder, env=os.environ | paths, capture_output=True, text=True, check=True)
    return int(done.stdout)


def kept(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "kept").rglob("*.nb?")}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("2 * pair.right", "5 * pair.right", 1002),
        ("number - 3", "number + 3", 1011),
        ("STEP = 0", "STEP = 4", 1009),
        ("[100, 7]", "[200, 7]", 2005),
        ("left: int\n    right: int", "right: int\n    left: int", 978),
    ],
    ids=["helper", "its helper", "number", "array", "fields"],
)
def test_a_change_in_another_file_changes_the_value(folder: Path, before: str, after: str, changed: int) -> None:
    written(folder, before, after)
    assert value(folder) == changed


def test_nothing_is_compiled_twice(folder: Path) -> None:
    """After the changes above, the files as they were give what they gave."""
    written(folder)
    before = kept(folder)
    assert before
    assert value(folder) == 1005
    assert kept(folder) == before
