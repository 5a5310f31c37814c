"""A small part of what `python -m tests.reliability` does at length."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.places import ROOT
from tests.reliability.mutants.changes import Mutant, mutant, number_of_mutants
from tests.reliability.mutants.explained import EXPLAINED
from tests.reliability.mutants.lines import Runs, likeliest


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


def changes(path: str, source: str) -> list[Mutant | None]:
    """All mutants of a file."""
    return [mutant(path, source, number) for number in range(number_of_mutants(path, source))]


def test_mutants_of_python_change_one_thing_each_and_leave_annotations_alone() -> None:
    """Comparisons, arithmetic, conditions, constants, results."""
    source = "def f(a: int | None = 3) -> int:\n    if a < 1 and a:\n        return a + 1\n    return max(a, 2)\n"
    found = changes("f.py", source)
    assert sorted(one.change for one in found if one) == sorted(
        [
            "3 -> 4",
            "condition turned round",
            "and -> or",
            "Lt -> LtE",
            "1 -> 2",
            "returns None",
            "Add -> Sub",
            "1 -> 2",
            "returns None",
            "max -> min",
            "2 -> 3",
        ]
    )
    assert len({one.source for one in found if one}) == len(found)


def test_mutants_of_sql_can_still_be_read_and_leave_comments_and_texts_alone() -> None:
    """Whoever reads SQL would notice what is none."""
    source = "-- a < b\nselect sum(x) as y from t where x >= 2 and s = '1 < 2' and z between 1 and 3e2\n"
    found = changes("v.sql", source)
    assert {one.change for one in found if one} == {"sum -> max", ">= -> >", "2 -> 3", "and -> OR", "= -> <>", "1 -> 2", "3e2 -> 301"}
    assert None in found


def test_a_mutant_meets_the_tests_that_run_its_statement_and_the_quickest_first() -> None:
    """A statement of several lines is one; what a fixture runs concerns its file; a view has those that name it."""
    source = "LIMIT = 1\ndef f(a):\n    return max(\n        a,\n        2,\n    )\n"
    runs = Runs(
        {"b.py::slow": 2.0, "a.py::quick": 0.1, "a.py::quicker": 0.01, "c.py::other": 0.0},
        {"f.py": {1: {"a.py"}, 2: set(), 3: {"b.py::slow", "a.py::quick"}, 4: {"a.py::quicker"}}},
    )
    assert likeliest(runs, "f.py", source, 5) == ["a.py::quicker", "a.py::quick", "b.py::slow"]
    assert likeliest(runs, "f.py", source, 1) == ["a.py::quicker", "a.py::quick"]
    assert likeliest(runs, "f.py", source, 2) == []
    tests = {"tests/places.py::none": 1.0, "tests/analytics/test_leaderboard.py::test": 1.0}
    assert likeliest(Runs(tests, {}), "analytics/common/leaderboard.sql", "", 1) == ["tests/analytics/test_leaderboard.py::test"]


def test_lines_whose_survivors_are_explained_are_still_there() -> None:
    """An explanation goes with its line."""
    for path, line, _ in EXPLAINED:
        assert line in map(str.strip, (ROOT / path).read_text("utf-8").splitlines()), (path, line)
