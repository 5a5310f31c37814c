"""The maps that stand in packages, a line a module, name what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.places import ROOT

ROOMS = ("cotrace", "dashboards", "analytics", "judges", "ingest", "games", "providers", "schemas")
LINE = re.compile(r"^(?:``\w+``,? ?)+", re.MULTILINE)


def mapped(package: Path) -> list[str]:
    """The modules that a package's docstring has lines about."""
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    return [name for line in LINE.findall(told) for name in re.findall(r"\w+", line)]


MAPS = {str(folder.relative_to(ROOT)): folder for room in ROOMS for folder in (path.parent for path in (ROOT / room).rglob("__init__.py"))}


@pytest.mark.parametrize("package", [name for name, folder in MAPS.items() if mapped(folder)])
def test_a_map_names_all_that_is_there_and_nothing_else(package: str) -> None:
    """Whoever looks for a module by what it is for finds it."""
    there = {path.stem for path in MAPS[package].iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    named = mapped(MAPS[package])
    assert sorted(named) == sorted(there - {"__init__"})
