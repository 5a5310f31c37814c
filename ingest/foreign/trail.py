"""TRAIL (arXiv 2505.08638): people's errors of a trace as labels of its turns, and their scores of it as numbers.

An error names the span in which it is: its label is of the turn that came of this span, and of the agent that speaks there. Its category is
the question, its impact the answer. Labels are in a column next to the trace, or in a file of the trace's name in a folder of annotations.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ingest.conversation.rows import numbers
from ingest.foreign.otel_spans import Span
from ingest.reading.adapter_types import Reading
from ingest.reading.text import read_json
from schemas.records import Action, EpisodeMetric, Label, Turn, Utterance

RUBRIC: Final = "trail"
KEYS: Final = frozenset({"errors", "scores"})
"""Of a file of labels."""


def label_files(path: Path) -> tuple[Path, ...]:
    """The file of people's labels of a trace, where there is one."""
    near = (*path.parent.glob("*annotation*/"), *path.parent.parent.glob("*annotation*/"))
    return tuple(one for folder in near if (one := folder / path.name) != path and one.is_file())[:1]


def add_labels(reading: Reading, episode: str, spans: Sequence[Span], labels: Any, source: str) -> None:
    """Add what people found in a trace: a label for each category of error in a turn, and a number for each score."""
    if not isinstance(labels, Mapping):
        return
    scores = labels.get("scores")
    first = scores[0] if isinstance(scores, list) and scores else scores
    if isinstance(first, Mapping):
        reading.rows["episode_metrics"] += [EpisodeMetric(episode, f"{RUBRIC}.{key}", value) for key, value in numbers(first).items()]
    found = {(one.unit_key, one.question): one for one in _labels(reading, episode, spans, labels.get("errors"), source)}
    reading.rows["labels"] += found.values()


def _labels(reading: Reading, episode: str, spans: Sequence[Span], errors: Any, source: str) -> Iterator[Label]:
    turns = sorted((one.at, one.turn) for one in reading.rows["turns"] if isinstance(one, Turn) and one.at is not None)
    speakers = {
        one.turn: one.agent for name in ("actions", "utterances") for one in reading.rows[name] if isinstance(one, Action | Utterance)
    }
    starts = {span.id: span.start for span in spans}
    for one in errors if isinstance(errors, list) else ():
        if isinstance(one, Mapping) and one.get("category"):
            start = starts.get(str(one.get("location")))
            place = len(turns) if start is None else bisect_left(turns, (start, 0))
            turn = turns[place][1] if place < len(turns) else None
            unit = episode if turn is None else f"{episode}/{turn}"
            question = re.sub(r"\W+", "_", str(one["category"])).strip("_").lower()
            impact = str(one.get("impact") or "unclear").lower()
            yield Label(source, RUBRIC, RUBRIC, question, unit, episode, turn, speakers.get(turn or 0), impact, None)


def read_labels(path: Path) -> Any:
    """What a file of labels holds; None where it is not JSON."""
    return read_json(path.read_bytes().decode(errors="replace"))
