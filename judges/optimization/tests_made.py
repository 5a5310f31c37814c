"""How often a rubric's successors were already tested on held-out games: counted beside the store, so that many runs are one family."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import orjson

_FILE = "optimize_tests.jsonl"


def place_of_test(folder: Path, rubric: str, tested: str, at: datetime) -> int:
    """Note that a new rubric is tested, and say the how manieth it is of those made from this one, from 1.

    The same new rubric, tested again after an interruption, keeps its place: it gives the same answer.

    Args:
        folder: where the store's journals lie; a line is added to a file in it.
        rubric: name of the rubric that it was made from.
        tested: hash of the new rubric's content.
        at: now.
    """
    path = folder / _FILE
    lines = path.read_bytes().splitlines() if path.exists() else []
    made = [line["tested"] for line in map(orjson.loads, filter(None, lines)) if line["rubric"] == rubric]
    if tested in made:
        return made.index(tested) + 1
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(orjson.dumps({"rubric": rubric, "tested": tested, "at": at.isoformat(timespec="seconds")}) + b"\n")
    return len(made) + 1
