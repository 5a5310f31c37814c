"""The units of a rubric as a table for people to fill in, with the keys under which judges' verdicts stand."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ingest.labels.files import COLUMNS
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.unit_sources import selected_units
from judges.evidence.units import Unit, select
from judges.rubric.model import Rubric
from schemas.store import Store
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl


_MOST_SHOWN = 300
"""Characters of a unit that stand beside its question, to tell what is meant; the page Labelling shows all of the evidence."""


def label_template(store: Store, rubric: Rubric, *, annotator: str = "", where: str | None = None, most: int | None = None) -> pl.DataFrame:
    """One row a unit and question, in the columns that `cotrace labels import` reads; `answer` is empty.

    Args:
        store: where to read.
        rubric: what is asked.
        annotator: who will answer.
        where: SQL condition over episodes and turns.
        most: so many units, drawn at random; None: all.

    Raises:
        UsageError: the condition is none.
    """
    import polars as pl

    columns = (*COLUMNS, "possible", "ask", "shown")
    return pl.DataFrame(list(_rows(store, rubric, annotator, where, most)), schema=dict.fromkeys(columns, pl.String))


def _rows(store: Store, rubric: Rubric, annotator: str, where: str | None, most: int | None) -> Iterator[dict[str, Any]]:
    maker = PromptMaker(rubric)
    units = selected_units(store, rubric, select(store, rubric, where))
    for unit, prompts in _all(units, maker) if most is None else _drawn(units, maker, rubric.name, most):
        for prompt in prompts:
            pieces = [rubric.about] if rubric.about else prompt.shown
            text = printable(" ".join(entry.text for piece in pieces for entry in prompt.shown.get(piece, [])))
            for question in maker.groups[prompt.group].questions:
                yield {
                    "rubric": rubric.name,
                    "question": question.id,
                    "annotator": annotator,
                    "unit_key": unit.unit_id,
                    "episode_id": unit.episode_id,
                    "turn": None if unit.turn is None else str(unit.turn),
                    "agent": unit.agent,
                    "answer": None,
                    "possible": "|".join(question.answers),
                    "ask": " ".join(question.ask.split()),
                    "shown": text[:_MOST_SHOWN],
                }


_Asked = tuple[Unit, list[Prompt]]


def _all(units: Iterable[Unit], maker: PromptMaker) -> Iterator[_Asked]:
    """Units with something to judge, in the store's order."""
    for unit in units:
        yield unit, [prompt for prompt in maker.prompts(unit) if prompt.applies]


def _drawn(units: Iterable[Unit], maker: PromptMaker, rubric: str, most: int) -> Iterator[_Asked]:
    """So many of them at random, the same ones each time; whoever fills in the first rows alone has a random sample, too."""
    kept: list[tuple[int, int, _Asked]] = []
    for place, unit in enumerate(units):
        rank = -int.from_bytes(hashlib.blake2b(f"{rubric}/{unit.unit_id}".encode(), digest_size=8).digest())
        if len(kept) == most and rank < kept[0][0]:
            continue
        prompts = [prompt for prompt in maker.prompts(unit) if prompt.applies]
        if prompts:
            (heapq.heappush if len(kept) < most else heapq.heappushpop)(kept, (rank, place, (unit, prompts)))
    yield from (asked for *_, asked in sorted(kept, key=lambda entry: -entry[0]))
