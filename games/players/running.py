"""Many games at once: turns in order, games side by side; whole logs are kept, replies that had arrived are not paid again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from games.players.player import ModelPlayer, PersonPlayer, Player, ScriptPlayer
from games.players.seats import PERSON, SCRIPT
from games.playing import OnProgress, another_game
from providers.asker import Asker, Entry
from providers.asker import Terms as AskerTerms
from providers.journal import Journal
from providers.prices import Budget, price_of
from providers.provider import ModelSettings
from schemas.game import Header, state_of_file

__all__ = ["Job", "RunReport", "Table", "Terms", "run_games"]

_CALLS = 256
"""Requests under way at once; how many games there are bounds them already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What goes for all games of a run."""

    settings: ModelSettings
    """How models are asked; each seat fills in its own name."""
    concurrency: int = 32
    """Games under way at once."""
    max_cost: float | None = None
    """USD; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Who can sit down, and on which terms."""

    scripts: Mapping[str, Mapping[str, Callable[[Any], str]]]
    """Role -> script -> policy."""
    seats: Mapping[str, str]
    """Agent -> role."""
    terms: Terms
    journal: Path
    """File that keeps replies until the games are written."""
    show: Callable[[str], None] = print
    read_line: Callable[[], str] = input


class Job(NamedTuple):
    """One game of a run."""

    path: Path
    header: Header
    taken: Mapping[str, str]
    """Agent -> player."""
    play: Callable[[Mapping[str, Player]], Awaitable[int]]
    """Plays it into its file with the players of the seats; gives the number of turns."""


@dataclass(slots=True)
class RunReport:
    """What came of a run."""

    played: int = 0
    kept: int = 0
    """Games whose whole log was there already."""
    turns: int = 0
    calls: int = 0
    """Requests to models that were paid for now."""
    from_journal: int = 0
    """Replies that an interrupted run had left."""
    failed: int = 0
    """Calls without a usable reply; the games went on as published loops do."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    first_error: str | None = None


def run_games(jobs: Sequence[Job], table: Table, on_progress: OnProgress | None = None) -> RunReport:
    """Play what is not there yet.

    Raises:
        UsageError: a model's key is missing, another process plays into this folder, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be written.
    """
    return asyncio.run(_run(jobs, table, on_progress))


async def _run(jobs: Sequence[Job], table: Table, on_progress: OnProgress | None) -> RunReport:
    left = [job for job in jobs if not _is_whole(job)]
    report = RunReport(kept=len(jobs) - len(left))
    if not left:
        return report
    table.journal.parent.mkdir(parents=True, exist_ok=True)
    journal: Journal[dict[str, str], Entry] = Journal(table.journal, {"job": "play"}, Entry)
    done = False
    try:
        async with AsyncExitStack() as stack:
            askers = {name: await stack.enter_async_context(_asker(name, table, journal)) for name in sorted(_models(left))}
            seats = _Seats(table, askers)
            await _play_all(left, seats, report, on_progress)
            for asker in askers.values():
                _count(asker, report)
        done = True
    finally:
        await journal.close(delete=done)
    return report


def _is_whole(job: Job) -> bool:
    state = state_of_file(job.path, job.header)
    if state == "other":
        raise another_game(job.path)
    return state == "complete"


def _models(jobs: Sequence[Job]) -> set[str]:
    return {player for job in jobs for player in job.taken.values() if player != PERSON and not player.startswith(SCRIPT)}


def _asker(model: str, table: Table, journal: Journal[dict[str, str], Entry]) -> Asker:
    of_asker = AskerTerms(budget=Budget(table.terms.max_cost), journal=journal, concurrency=_CALLS)
    return Asker([replace(table.terms.settings, model=model)], price_of(model, table.terms.prices), of_asker)


@dataclass(frozen=True, slots=True)
class _Seats:
    table: Table
    askers: Mapping[str, Asker]

    def player(self, agent: str, name: str) -> Player:
        if name == PERSON:
            return PersonPlayer(self.table.show, self.table.read_line)
        if name.startswith(SCRIPT):
            script = name.removeprefix(SCRIPT)
            return ScriptPlayer(script, self.table.scripts[self.table.seats[agent]][script])
        return ModelPlayer(name, self.askers[name], run=str(self.table.journal.parent))


async def _play_all(jobs: Sequence[Job], seats: _Seats, report: RunReport, on_progress: OnProgress | None) -> None:
    free = asyncio.Semaphore(seats.table.terms.concurrency)
    total = len(jobs) + report.kept

    async def one(job: Job) -> None:
        async with free:
            turns = await job.play({agent: seats.player(agent, name) for agent, name in job.taken.items()})
        report.turns += turns
        report.played += 1
        if on_progress is not None:
            on_progress(report.played + report.kept, total)

    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(one(job))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors


def _count(asker: Asker, report: RunReport) -> None:
    usage = asker.usage
    report.calls += usage.asked - usage.from_journal - usage.from_cache
    report.from_journal += usage.from_journal
    report.failed += usage.failed
    report.tokens_in += usage.tokens.input
    report.tokens_out += usage.tokens.output
    report.cost += usage.cost
    report.first_error = report.first_error or usage.first_error
