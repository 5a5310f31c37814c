"""A small part of what `python -m tests.reliability` does at length."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.places import ROOT


def reliability(*words: str) -> str:
    """What the command says; it must find nothing wrong."""
    done = subprocess.run([sys.executable, "-m", "tests.reliability", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_killed_commands_end_as_if_nothing_had_happened() -> None:
    """A few moments of a command that writes a store and of one that writes logs."""
    said = reliability("kills", "--only", "labels import", "--only", "play, scripts", "--moments", "1", "--random", "1")
    for command in ("labels import", "play, scripts"):
        assert re.search(rf"{command}: [2-4] kills, 0 not as if unbroken", said)
