"""The notebook docs/tour.ipynb: every cell runs, in order, and its last expression shows itself as a notebook would ask it to."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.places import DOCS

CELLS = [cell for cell in json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; gives the value of its last expression, as a kernel does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the documentation's own cells
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None  # noqa: S307


def shown(value: Any) -> str:
    """As a notebook shows it: HTML where there is some, else its text."""
    html = getattr(value, "_repr_html_", None)
    return str(html() if html is not None else repr(value))


def test_every_cell_runs_and_shows_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, without a kernel and a network."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    values = [run("".join(cell["source"]), names) for cell in CELLS]
    assert values[0] == (6, 48, [])
    assert "6 games" in shown(values[1])
    assert len(values[2]) == 3
    assert len(values[3]) > 0
    assert values[4].data
    assert "<table" in shown(values[5])
    assert "README.md" in values[6]


def test_the_notebook_is_kept_without_outputs() -> None:
    """What a run leaves behind would be stale at the next change."""
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CELLS)
