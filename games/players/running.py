"""Many games at once: turns in order, games side by side; whole logs are stored, replies that had arrived are not paid again.

Before anything is played, limits that no call could meet are refused (`contradiction`). What changes a model's answers is part of the run's
condition (`with_sampling`). A budget covers the whole run, however often it is started (`spent_before`). `Watch` reports the progress.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from games.players.course import Course, play_alone, play_course
from games.players.player import ModelPlayer, Observation, OutOfBudgetError, PersonPlayer, Player, PlayerReply, ScriptPlayer, reading_of
from games.players.setup import PERSON, SCRIPT, is_model
from providers.asker import Asker, JournalEntry, Usage, run_to_end
from providers.asker import JobTerms as AskerTerms
from providers.prices import Budget, price_of, refuse_unpriced
from providers.provider import ModelSettings, is_at_own_server
from schemas.common.cluster import cores, is_used
from schemas.common.errors import UsageError
from schemas.common.processes import worker_pool
from schemas.game import Header, state_of_file
from schemas.replies import NOT_READ, Read
from schemas.store.journal import Journal


class Contradiction(NamedTuple):
    """A limit, and what it contradicts."""

    limit: str
    message: str


def contradiction(settings: ModelSettings, max_cost: float | None, prices: Path | None) -> Contradiction | None:
    """Give what one reply of a model could exceed; None if the limits agree with how it is asked."""
    name, most = settings.model, settings.max_tokens
    if settings.tokens_per_minute is not None and settings.tokens_per_minute < most:
        return Contradiction(
            "tokens_per_minute",
            f"{settings.tokens_per_minute:g} tokens a minute contradict max_tokens {most} of {name}: one reply could exceed them; "
            "raise the one or lower the other",
        )
    if max_cost is None:
        return None
    price = price_of(settings, prices)
    if price is None and is_at_own_server(settings):
        return None
    if price is None:
        return Contradiction("max_cost", f"max_cost needs a price for {name}: give a file of prices, or no max_cost")
    dearest = price.cost(0, most)
    if dearest <= max_cost:
        return None
    return Contradiction(
        "max_cost",
        f"max_cost {max_cost:g} USD contradicts max_tokens {most} of {name}: one reply can cost {dearest:.4f} USD; "
        "raise the one or lower the other",
    )


def with_sampling(header: Header, taken: Mapping[str, str], of: Callable[[str], ModelSettings]) -> Header:
    """The header with the settings of its models in its condition: `temperature`, `max_tokens`, `top_p`, `reasoning_effort`, where set.

    A setting in which the models of a game differ is a text, `model=value` for each of them. Games without models stay as they are.
    """
    asked = {model: of(model).answering() for model in sorted(set(taken.values())) if is_model(model)}
    if not asked:
        return header
    names = dict.fromkeys(name for settings in asked.values() for name in settings)
    sampling = {name: _joined({model: settings.get(name) for model, settings in asked.items()}) for name in names}
    condition = {**header.run.get("condition", {}), **sampling}
    return replace(header, run={**header.run, "condition": condition})


def _joined(values: Mapping[str, object]) -> Any:
    first, *others = values.values()
    if all(value == first for value in others):
        return first
    return "; ".join(f"{model}={'none' if value is None else value}" for model, value in values.items())


def spent_before(logs: Iterable[Path], replies: Iterable[JournalEntry]) -> float:
    """USD that the calls in the logs and the replies of a journal have cost, each call once; a call without price costs nothing.

    Raises:
        OSError: a log cannot be read.
    """
    costs = {entry.call.call_id: entry.call.cost or 0.0 for entry in replies}
    for log in logs:
        for line in log.read_bytes().split(b"\n")[:-1]:  # a last line that was cut off has its calls in the journal
            if b'"call_id"' in line:
                costs |= {call["call_id"]: call["cost"] or 0.0 for call in orjson.loads(line).get("calls", ())}
    return sum(costs.values())


_EVERY_S: Final = 0.2
"""The least time between two reports."""


class PlayProgress(NamedTuple):
    """How far a run is."""

    games: int
    """Finished, those that were there before included."""
    total: int
    turns: int
    """Played now, those of unfinished games included."""
    calls: int
    """Replies that came, out of the journal too."""
    cost: float | None
    """USD, paid now."""
    seconds_left: float | None
    """If it goes on as so far, and unfinished games need all their turns; None: not known yet."""


OnProgress = Callable[[PlayProgress], None]


class Watch:
    """Counts the turns of many games as they go on, each of which has a turn limit by its log, or None."""

    def __init__(self, most_turns: Mapping[Path, int | None], *, stored: int, usage: Usage, tell: OnProgress | None) -> None:
        self._most, self._stored, self._usage, self._tell = most_turns, stored, usage, tell
        self._turn: dict[Path, int] = {}
        """Finished turns of the games under way."""
        self._ended = self._turns_of_ended = 0
        self._began = time.monotonic()
        self._reported = 0.0
        self.reads: Counter[Read | None] = Counter()
        """How replies of models were read; None: nothing came, or nothing reads them."""

    def saw(self, game: Path, turn: int) -> None:
        """A turn of a game is under way."""
        self._turn[game] = turn - 1
        if time.monotonic() - self._reported >= _EVERY_S:
            self._say()

    def ended(self, game: Path, turns: int) -> None:
        """A game is over."""
        self._turn.pop(game, None)
        self._ended += 1
        self._turns_of_ended += turns
        self._say()

    def _say(self) -> None:
        self._reported = time.monotonic()
        if self._tell is None:
            return
        parts = (turn / most for game, turn in self._turn.items() if (most := self._most[game]))
        done = (self._ended + sum(parts)) / len(self._most)
        took = time.monotonic() - self._began
        self._tell(
            PlayProgress(
                games=self._stored + self._ended,
                total=self._stored + len(self._most),
                turns=self._turns_of_ended + sum(self._turn.values()),
                calls=self._usage.asked,
                cost=self._usage.cost,
                seconds_left=took * (1 - done) / done if done else None,
            )
        )


class WatchedPlayer:
    """A player whose turn is reported when it is asked."""

    def __init__(self, player: Player, game: Path, watch: Watch) -> None:
        self.name = player.name
        self._player, self._game, self._watch = player, game, watch

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Let the player answer."""
        self._watch.saw(self._game, seen.turn)
        reply = await self._player.reply(seen, episode=episode)
        if reply.call is not None:
            self._watch.reads[reading.read if (reading := reading_of(seen, reply)) else None] += 1
        return reply


CALLS = 256
"""Requests of a model under way at once; how many games there are bounds them already."""
_WORTH_PROCESSES_S = 8.0
"""Games of scripts that would take longer in one process are shared out; others are played sooner than workers start."""
_CHUNK = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """What goes for all games of a run."""

    settings: ModelSettings
    """How models are asked; each player fills in its own name."""
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    """How single models are asked otherwise, by provider/model."""
    concurrency: int = 32
    """Games under way at once."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How many calls single models take at once, by provider/model."""
    max_cost: float | None = None
    """USD for all games, earlier starts included; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own."""
    after_game: Callable[[Path, Sequence[str], Callable[[str], None], Callable[[], str]], None] | None = None
    """Called with the log of a finished game, the agents that people played at this terminal, and how to show and read a line."""
    budget: Budget | None = None
    """One that other runs share, in place of one of `max_cost` alone."""

    def of(self, model: str) -> ModelSettings:
        """How a model is asked."""
        return self.models.get(model) or replace(self.settings, model=model)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """The players of a run, and on which terms models are asked."""

    scripts: Mapping[str, Mapping[str, Callable[[Any], str]]]
    """Role -> script -> policy."""
    roles: Mapping[str, str]
    """Agent -> role."""
    terms: RunTerms
    journal: Path
    """File that stores replies until the games are written."""
    show: Callable[[str], None] = print
    read_line: Callable[[], str] = input
    people: Mapping[str, Player] = field(default_factory=dict)
    """Agent -> a person who is not at this terminal."""


class Job(NamedTuple):
    """One game of a run."""

    path: Path
    header: Header
    taken: Mapping[str, str]
    """Agent -> player."""
    begin: Callable[[], Course | None]
    """Gives its course, from the beginning; None: no such game exists (only of those that ask no player)."""
    sit: Callable[[Mapping[str, Player]], Mapping[str, Player]] = dict
    """Who answers for a player: of a game that goes on from another one, that one's replies at first."""
    alone: bool = False
    """The course asks no player: scripts that remember play in it."""

    async def play(self, players: Mapping[str, Player]) -> int:
        """Play it into its file with its players; gives the number of turns.

        Raises:
            HopelessError: a model turns every request down.
            OSError: the file cannot be written.
        """
        course = self.begin()
        assert course is not None
        return await play_course(self.path, self.header, course, self.sit(players))

    def play_alone(self) -> int:
        """Play it into its file, where its course asks no player; gives the number of turns.

        Raises:
            OSError: the file cannot be written.
        """
        course = self.begin()
        return 0 if course is None else play_alone(self.path, self.header, course)


@dataclass(slots=True)
class RunReport:
    """What came of a run."""

    paths: Sequence[Path] = ()
    """All logs of the run, played or there already."""
    played: int = 0
    stored: int = 0
    """Games whose whole log was there already."""
    stopped: int = 0
    """Games that wait for money: they go on where they are when the run is started again with a higher budget."""
    turns: int = 0
    calls: int = 0
    """Requests to models that were paid for now."""
    from_journal: int = 0
    """Replies that an interrupted run had left."""
    timed_out: int = 0
    """Requests without a complete reply in time."""
    failed: int = 0
    """Calls without a usable reply; the games went on as published loops do."""
    tokens_in: int | None = 0
    """None if a server has not counted all tokens."""
    tokens_out: int | None = 0
    cost: float | None = 0.0
    """USD, paid now; None if the cost of a call is not known."""
    cost_before: float | None = None
    """USD, paid by earlier starts; None: not counted, without a budget."""
    first_error: str | None = None
    reads: Counter[Read | None] = field(default_factory=Counter)
    """How replies of models were read; None: nothing came, or nothing reads them."""
    limits: tuple[int, ...] = ()
    """Longest replies of the models, in tokens."""

    @property
    def none_read(self) -> bool:
        """Whether models replied and none of their replies could be read."""
        replied = Counter({read: count for read, count in self.reads.items() if read is not None})
        return replied.total() > 0 and all(read in NOT_READ for read in replied)


def run_games(jobs: Sequence[Job], table: RunSetup, on_progress: OnProgress | None = None) -> RunReport:
    """Play what is not there yet.

    Raises:
        UsageError: a model's key is missing, or its price under a budget, another process plays into this folder, or a log of a game's name
            holds another game.
        HopelessError: a model turns every request down; what was played is stored.
        OSError: a file cannot be written.
    """
    return _run_alone(jobs, on_progress) if all(job.alone for job in jobs) else run_to_end(_run(jobs, table, on_progress))


def _run_alone(jobs: Sequence[Job], on_progress: OnProgress | None) -> RunReport:
    """Play games that ask no player; many of them in several processes."""
    left = [job for job in jobs if not _is_whole(job)]
    report = RunReport(paths=[job.path for job in jobs], stored=len(jobs) - len(left))
    watch = Watch({job.path: job.header.max_turns for job in left}, stored=report.stored, usage=Usage(), tell=on_progress)
    for path, turns in _played_alone(left):
        report.turns += turns
        report.played += turns > 0
        report.stored += turns == 0
        watch.ended(path, turns)
    return report


def _played_alone(jobs: Sequence[Job]) -> Iterator[tuple[Path, int]]:
    began, alone = time.monotonic(), 0
    while alone < len(jobs) and not is_used():
        took = time.monotonic() - began
        if alone >= _CHUNK and cores() > 1 and took / alone * (len(jobs) - alone) > _WORTH_PROCESSES_S:
            break
        yield jobs[alone].path, jobs[alone].play_alone()
        alone += 1
    left = jobs[alone:]
    if not left:
        return
    chunks = [left[start : start + _CHUNK] for start in range(0, len(left), _CHUNK)]
    with worker_pool(min(cores(), len(chunks))) as pool:
        for finished in as_completed([pool.submit(_play_chunk, chunk) for chunk in chunks]):
            yield from finished.result()


def _play_chunk(jobs: Sequence[Job]) -> list[tuple[Path, int]]:
    return [(job.path, job.play_alone()) for job in jobs]


async def _run(jobs: Sequence[Job], table: RunSetup, on_progress: OnProgress | None) -> RunReport:
    jobs = [job._replace(header=with_sampling(job.header, job.taken, table.terms.of)) for job in jobs]
    left = [job for job in jobs if not _is_whole(job)]
    report = RunReport(paths=[job.path for job in jobs], stored=len(jobs) - len(left))
    if not left:
        return report
    models = {player for job in left for player in job.taken.values() if is_model(player)}
    prices = {name: price_of(table.terms.of(name), table.terms.prices) for name in sorted(models)}
    for name, price in prices.items():
        refuse_unpriced(table.terms.of(name), price, table.terms.max_cost)
    table.journal.parent.mkdir(parents=True, exist_ok=True)
    journal: Journal[dict[str, str], JournalEntry] = Journal(table.journal, {"job": "play"}, JournalEntry)
    usage, done = Usage(), False
    askers: dict[str, Asker] = {}
    try:
        async with AsyncExitStack() as stack:
            budget = _budget(jobs, table, journal, report)
            # turns follow one another: to wait for the disk each time would slow every game down
            terms = AskerTerms(budget=budget, journal=journal, forced=False, concurrency=CALLS, usage=usage)
            for name, price in prices.items():
                bounded = replace(terms, concurrency=table.terms.calls.get(name, CALLS))
                askers[name] = await stack.enter_async_context(Asker([table.terms.of(name)], price, bounded))
            watch = Watch({job.path: job.header.max_turns for job in left}, stored=report.stored, usage=usage, tell=on_progress)
            report.reads, report.limits = watch.reads, tuple(sorted({table.terms.of(name).max_tokens for name in prices}))
            await _play_all(left, table, askers, watch, report)
        done = not report.stopped
    finally:
        await journal.close(delete=done)
    report.calls = usage.asked - usage.from_journal - usage.from_cache
    report.from_journal = usage.from_journal
    report.failed = usage.failed
    report.timed_out = usage.timed_out
    report.tokens_in = usage.tokens_in
    report.tokens_out = usage.tokens_out
    report.cost = usage.cost
    report.first_error = usage.first_error
    return report


def _is_whole(job: Job) -> bool:
    state = state_of_file(job.path, job.header)
    if state == "other":
        raise UsageError(f"{job.path} holds another game than the one asked for; choose another folder or remove the file")
    return state == "complete"


def _budget(jobs: Sequence[Job], table: RunSetup, journal: Journal[dict[str, str], JournalEntry], report: RunReport) -> Budget:
    """What is left of it: games and replies that are there already have cost something."""
    if table.terms.budget is not None:
        return table.terms.budget
    if table.terms.max_cost is None:
        return Budget(None)
    report.cost_before = spent_before((job.path for job in jobs if job.path.exists()), journal.before)
    return Budget(table.terms.max_cost - report.cost_before)


async def _play_all(jobs: Sequence[Job], table: RunSetup, askers: Mapping[str, Asker], watch: Watch, report: RunReport) -> None:
    people, terms, folder = any(PERSON in job.taken.values() for job in jobs), table.terms, table.journal.parent
    free = asyncio.Semaphore(1 if people else terms.concurrency)  # a person plays one game at a time

    def player(job: Job, agent: str, name: str) -> Player:
        if name == PERSON:
            return table.people.get(agent) or PersonPlayer(table.show, table.read_line)
        if name.startswith(SCRIPT):
            script = name.removeprefix(SCRIPT)
            return ScriptPlayer(script, table.scripts[table.roles[agent]][script])
        return ModelPlayer(name, askers[name], run=str(folder), game=job.path.relative_to(folder).as_posix())

    async def one(job: Job) -> None:
        taken = {} if job.alone else job.taken
        async with free:
            try:
                turns = await job.play({agent: WatchedPlayer(player(job, agent, name), job.path, watch) for agent, name in taken.items()})
            except OutOfBudgetError:
                report.stopped += 1
                return
            here = [agent for agent, name in job.taken.items() if name == PERSON and agent not in table.people]
            if here and len(job.taken) > 1 and terms.after_game is not None:
                await asyncio.to_thread(terms.after_game, job.path, here, table.show, table.read_line)
        report.turns += turns
        report.played += 1
        watch.ended(job.path, turns)

    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(one(job))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors
