"""What is remembered of a batch between submitting and collecting: `<store>.journal/<judge_run_id>.batch.json`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter

from judges.rubric.model import Rubric
from judges.runs.journal import JournalHead
from judges.runs.outcomes import About
from providers.batches import remember, remembered
from providers.prices import Price
from providers.provider import ModelSettings
from schemas.errors import UsageError
from schemas.records import JudgeRun


class BatchRecord(NamedTuple):
    """All that is needed to turn a batch's replies into verdicts."""

    run: JudgeRun
    rubric: Rubric
    settings: ModelSettings
    calls: list[About]
    """Each request is called by its place in this list."""
    prompt_hashes: list[str]
    """Of the calls, as in `calls.prompt_hash`."""
    batch_id: str | None
    """As the provider calls it; None: it was about to be submitted when the process ended."""

    def price(self) -> Price | None:
        """What the model cost when the batch was submitted."""
        found = orjson.loads(self.run.parameters).get("price")
        return None if found is None else Price(**found)

    def job(self) -> JournalHead:
        """The part that a journal has too."""
        return JournalHead(self.run, self.rubric, os.getpid())


_RECORD = TypeAdapter(BatchRecord)


def write_record(folder: Path, record: BatchRecord) -> Path:
    """Put the record into the journal folder."""
    return remember(folder, record.run.judge_run_id, record)


def pending_batches(folder: Path) -> Iterator[tuple[Path, BatchRecord]]:
    """The batches that were submitted and not collected.

    Raises:
        StoreError: a record is damaged.
    """
    return remembered(folder, _RECORD)


def refuse_if_pending(folder: Path, about_to_start: JudgeRun) -> None:
    """See that nothing is asked that a batch is being asked already.

    Raises:
        UsageError: a batch that will give the same verdicts was submitted and not collected.
    """
    for _, record in pending_batches(folder):
        if record.job().is_same_job(about_to_start):
            raise UsageError(
                f"a batch with rubric {record.run.rubric} for {record.run.judge} is under way ({record.batch_id}): "
                "get its answers first with cotrace judge --collect"
            )
