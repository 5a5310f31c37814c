"""What a person who labels is asked, on the page or in a table to fill in: the same questions about the same evidence as a judge."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ingest.labels.files import COLUMNS
from judges.evidence.frame import Entry
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.transcript import Transcript
from judges.evidence.units import Unit, select, units
from judges.rubric import Group, Question, Rubric, joined
from schemas.common.errors import UsageError
from schemas.common.text import printable
from schemas.records import Label
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl

_LONGEST_NAME = 60

Answer = str | Sequence[str] | None
"""What a form gives for a question: an answer, several, or nothing."""


class Task(NamedTuple):
    """Questions with the same visible evidence, about one unit."""

    unit: Unit
    group: Group
    number: int
    """The group's index: a person answers the groups one after the other, since a later one may show more."""
    shown: Mapping[str, list[Entry]]
    """The pieces of evidence by name, in the rubric's order: all that may be shown."""


def tasks(rubric: Rubric, game: Transcript, unit_id: str) -> Iterator[Task]:
    """The tasks of a unit in order; none where there is nothing to judge or the game has no such unit."""
    for unit in units(rubric, game, None):
        if unit.unit_id == unit_id:
            maker = PromptMaker(rubric)
            for prompt in maker.prompts(unit):
                if prompt.applies:
                    yield Task(unit, maker.groups[prompt.group], prompt.group, prompt.shown)
            return


def annotator_name(text: str) -> str:
    """The name under which a person's labels are stored.

    Raises:
        UsageError: it is empty, too long, or that of a judge.
    """
    name = " ".join(printable(text).split())
    if not name or len(name) > _LONGEST_NAME:
        raise UsageError(f"annotator name of {len(name)} characters: give 1 to {_LONGEST_NAME}")
    if name.casefold().startswith("llm:"):
        raise UsageError(f"annotator {name}: names that begin with llm: stand for judges; choose another")
    return name


def labels_of(rubric: Rubric, task: Task, answers: Mapping[str, Answer], *, annotator: str, source: str) -> list[Label]:
    """The labels that a person's answers to a task are.

    Raises:
        UsageError: a question has no answer, or one that it does not allow.
    """
    name = annotator_name(annotator)
    given_at = datetime.now(UTC).replace(tzinfo=None)
    return [
        Label(
            source=source,
            annotator=name,
            rubric=rubric.name,
            question=question.id,
            unit_key=task.unit.unit_id,
            episode_id=task.unit.episode_id,
            turn=task.unit.turn,
            agent=task.unit.agent,
            answer=(answer := _allowed(question, answers.get(question.id), several=task.group.several)),
            score=rubric.answers.get(answer),
            imported_at=given_at,
        )
        for question in task.group.questions
    ]


def _allowed(question: Question, answer: Answer, *, several: bool) -> str:
    if several and not isinstance(answer, str):
        chosen = answer or ()
        return joined([_allowed(question, one, several=False) for one in chosen], question.answers)
    if not isinstance(answer, str) or answer not in question.answers:
        given = "no answer" if answer is None else f"answer {answer}"
        raise UsageError(f"{question.id}: {given}; choose one of {', '.join(question.answers)}")
    return answer


_Asked = tuple[Unit, list[Prompt]]

_MOST_SHOWN = 300
"""Characters of a unit that are shown next to its question, to identify it; the page Labelling shows all of the evidence."""


def label_template(
    store: Store,
    rubric: Rubric,
    *,
    annotator: str = "",
    where: str | None = None,
    draw: int | Mapping[str, float] | None = None,
) -> pl.DataFrame:
    """One row a unit and question, in the columns that `cotrace labels import` reads; `answer` is empty.

    Args:
        store: where to read.
        rubric: what is asked.
        annotator: who will answer.
        where: SQL condition over episodes and turns.
        draw: so many units, at random; or unit -> chance with which it was drawn, in the order of the rows; None: all.

    Raises:
        UsageError: the condition is none.
    """
    import polars as pl

    maker = PromptMaker(rubric)
    units = selected_units(store, rubric, select(store, rubric, where))
    if isinstance(draw, Mapping):
        places = {unit: place for place, unit in enumerate(draw)}
        known = sorted(_all((unit for unit in units if unit.unit_id in draw), maker), key=lambda asked: places[asked[0].unit_id])
        chances = dict(draw)
    else:
        known, number = (list(_all(units, maker)), 0) if draw is None else _drawn(units, maker, rubric.name, draw)
        chances = dict.fromkeys((unit.unit_id for unit, _ in known), len(known) / number if number else 1.0)
    columns = (*COLUMNS, "sampling_probability", "possible", "ask", "shown")
    rows = list(_rows(known, rubric, maker, annotator, chances))
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String) | {"sampling_probability": pl.Float64})


def _rows(
    asked: Iterable[_Asked], rubric: Rubric, maker: PromptMaker, annotator: str, chances: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    for unit, prompts in asked:
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
                    "sampling_probability": chances[unit.unit_id],
                    "possible": "|".join(question.answers),
                    "ask": " ".join(question.ask.split()),
                    "shown": text[:_MOST_SHOWN],
                }


def _all(units: Iterable[Unit], maker: PromptMaker) -> Iterator[_Asked]:
    """Units with something to judge, in the store's order."""
    for unit in units:
        yield unit, [prompt for prompt in maker.prompts(unit) if prompt.applies]


def _drawn(units: Iterable[Unit], maker: PromptMaker, rubric: str, most: int) -> tuple[list[_Asked], int]:
    """So many at random, the same ones each time, and of how many; whoever fills in the first rows alone has a random sample, too."""
    drawn: list[tuple[int, int, _Asked]] = []
    there = 0
    for place, unit in enumerate(units):
        prompts = [prompt for prompt in maker.prompts(unit) if prompt.applies]
        if not prompts:
            continue
        there += 1
        rank = -int.from_bytes(hashlib.blake2b(f"{rubric}/{unit.unit_id}".encode(), digest_size=8).digest())
        if len(drawn) < most or rank > drawn[0][0]:
            (heapq.heappush if len(drawn) < most else heapq.heappushpop)(drawn, (rank, place, (unit, prompts)))
    return [asked for *_, asked in sorted(drawn, key=lambda entry: -entry[0])], there
