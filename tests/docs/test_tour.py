"""The notebook docs/tour.ipynb: every cell runs, in order, and shows what the notebook has."""

from __future__ import annotations

import copy
import json
import re

import pytest

from tests.places import DOCS
from tools.make_notebooks import execute, texts

NOTEBOOK = json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))


@pytest.mark.long
def test_every_cell_shows_what_the_notebook_has() -> None:
    """In an empty folder, without a kernel and a network; figures are drawn, and not compared as pictures."""
    again = copy.deepcopy(NOTEBOOK)
    values = execute(again, draws=False)
    assert values[0] == (6, 48, [])
    assert values[4].data
    assert "README.md" in values[6]
    assert texts(again) == texts(NOTEBOOK), "run `make notebooks`"


def test_the_outputs_have_a_figure_and_no_path_of_a_machine() -> None:
    """They are committed, so that a reader sees them without running anything."""
    outputs = [output for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert len(outputs) == 7
    assert sum("image/png" in output["data"] for output in outputs) == 1
    assert not re.search(r"/(home|root|tmp|work|Users|var)/", "".join(texts(NOTEBOOK)))
