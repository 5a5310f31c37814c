"""The journals of scoring runs: every reply is on record there before it counts, so that a kill at any moment loses none that had arrived.

A run writes `<store>.journal/<judge_run_id>.jsonl` (`providers.journal`): a line about the run, then a line a call. The store gets the
verdicts in batches; when all of them are in, the journal is deleted. A journal that is found without its process is what a killed run left
behind: `leftovers` gives it out to be stored. One that cannot be read, or stored, is set aside: it does not stop other runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from judges.rubric.model import Rubric
from judges.runs.outcomes import About, CallOutcome, Outcomes
from providers.asker import JournalEntry
from providers.journal import is_held, read
from schemas.errors import UsageError
from schemas.records import JudgeRun

_LOG = logging.getLogger(__name__)


class JournalHead(NamedTuple):
    """What is needed to turn a run's replies into rows, without the rubric's file."""

    run: JudgeRun
    rubric: Rubric
    process: int

    def is_same_job(self, other: JudgeRun) -> bool:
        """Whether both would write the same verdicts."""
        mine = self.run
        return (mine.rubric, mine.rubric_hash, mine.variant, mine.judge) == (other.rubric, other.rubric_hash, other.variant, other.judge)


class Leftover(NamedTuple):
    """The journal of a run that was killed."""

    path: Path
    job: JournalHead | None
    """None: its first line cannot be read."""
    outcomes: list[CallOutcome]
    """Those of lines that can be read."""
    damage: str | None = None
    """Why the first line that cannot be read cannot; None if all can."""


def leftovers(folder: Path, about_to_start: JudgeRun) -> Iterator[Leftover]:
    """The journals of killed runs, oldest first.

    Raises:
        UsageError: a run that would write the same verdicts is under way.
    """
    for path in sorted(folder.glob("*.jsonl"), key=lambda p: p.stat().st_mtime_ns):
        held = is_held(path)
        found = _leftover(path)
        if held and found.job is not None and found.job.is_same_job(about_to_start):
            raise UsageError(
                f"rubric {found.job.run.rubric} is being scored by {found.job.run.judge} on this store already "
                f"(process {found.job.process}): wait for it, or stop it first"
            )
        if not held and found.job is None and found.damage is None:  # killed before it asked anything
            path.unlink(missing_ok=True)
        elif not held:
            yield found


def _leftover(path: Path) -> Leftover:
    job, entries, damage = read(path, JournalHead, JournalEntry)
    if job is None:
        return Leftover(path, None, [], damage)
    outcomes = Outcomes(job.rubric)
    return Leftover(
        path, job, [outcomes.of_record(msgspec.convert(entry.note, About), entry.call, entry.completion) for entry in entries], damage
    )


def set_aside(leftover: Leftover, why: str) -> None:
    """Move a journal out of the way of later runs, and warn of it: not everything in it is in the store."""
    path = leftover.path.with_name(f"{leftover.path.name}.damaged")
    leftover.path.rename(path)
    _LOG.warning(
        "warning: the journal of an interrupted run cannot all be stored (%s); the rest is asked again, and it lies in %s", why, path
    )
