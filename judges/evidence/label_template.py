"""The units of a rubric as a table for people to fill in, with the keys under which judges' verdicts stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ingest.labels.files import COLUMNS
from judges.evidence.prompt import PromptMaker
from judges.evidence.unit_sources import selected_units
from judges.evidence.units import select
from judges.rubric.model import Rubric
from schemas.store import Store
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["label_template"]

_MOST_SHOWN = 300
"""Characters of a unit that stand beside its question, to tell what is meant; the page Labelling shows all of the evidence."""


def label_template(store: Store, rubric: Rubric, *, annotator: str = "", where: str | None = None, most: int | None = None) -> pl.DataFrame:
    """One row a unit and question, in the columns that `cotrace labels import` reads; `answer` is empty.

    Args:
        store: where to read.
        rubric: what is asked.
        annotator: who will answer.
        where: SQL condition over episodes and turns.
        most: units at most.

    Raises:
        UsageError: the condition is none.
    """
    import polars as pl

    columns = (*COLUMNS, "possible", "ask", "shown")
    return pl.DataFrame(list(_rows(store, rubric, annotator, where, most)), schema=dict.fromkeys(columns, pl.String))


def _rows(store: Store, rubric: Rubric, annotator: str, where: str | None, most: int | None) -> Iterator[dict[str, Any]]:
    maker = PromptMaker(rubric)
    taken: set[str] = set()
    for unit in selected_units(store, rubric, select(store, rubric, where)):
        for prompt in maker.prompts(unit):
            if not prompt.applies:
                continue
            if unit.unit_id not in taken and len(taken) == most:
                return
            taken.add(unit.unit_id)
            shown = prompt.shown.get(rubric.about or "", [])
            text = printable(" ".join(entry.text for entry in shown))
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
