"""A model names the decisive error of the selected games; its answers become verdicts."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
from pydantic import BaseModel

from judges.attribution.asking import MANNERS, Answered, Ask
from judges.attribution.decisive import RUBRIC, decisive_error
from judges.attribution.job import selected_games
from judges.evidence.transcript import Transcript, load
from judges.runs.job import RunStatus
from judges.runs.verdict_store import Progressed, save
from providers.asker import Asker, JobTerms, JournalEntry, Reply, Request, added, now, run_to_end
from providers.journal import Journal, ReplyCache, made
from providers.messages import Message
from providers.prices import Budget, price_of, refuse_unpriced
from providers.provider import ModelSettings
from schemas.errors import StoreError, UsageError
from schemas.records import Call, Json, JudgeRun, Verdict
from schemas.store import Store
from schemas.text import excerpt

_GAMES_AT_ONCE: Final = 64
_LONGEST_REASON: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class AskingRequest:
    """Who is asked about which games, and how."""

    settings: ModelSettings
    manner: str
    more_endpoints: tuple[ModelSettings, ...] = ()
    where: str = "true"
    cache: Path | None = None
    concurrency: int = 32
    max_cost: float | None = None
    prices: Path | None = None


@dataclass(slots=True)
class AskingReport:
    """What came of it."""

    games: int = 0
    answered: int = 0
    undecided: int = 0
    """Games in which the model named nothing."""
    failed: int = 0
    """Games without a usable answer."""
    not_asked: int = 0
    """Games about which the budget allowed no (further) question: they have no verdict."""
    requests: int = 0
    timed_out: int = 0
    """Those of them without a complete reply in time."""
    tokens_in: int | None = 0
    """None if the server has not counted all tokens."""
    tokens_out: int | None = 0
    cost: float | None = None
    """USD; None if the model has no price."""
    first_error: str | None = None
    """Why the first failed game failed."""


def ask_games(request: AskingRequest, store: Store, on_progress: Callable[[int, int], None] | None = None) -> AskingReport:
    """Ask about every selected game; what a start that was interrupted, or stopped by its budget, has asked is not asked again.

    Raises:
        HopelessError: no request can succeed.
        StoreError: the store or the journal cannot be read or written.
        UsageError: there is no such manner, the condition is no SQL, or a limit needs a price that is not known.
    """
    if request.manner not in MANNERS:
        raise UsageError(f"--manner {request.manner}: choose one of {', '.join(MANNERS)}")
    store.create()
    job = _Job(request, store)
    games = [*selected_games(store, request.where)]
    return run_to_end(job.go(games, on_progress))


class _Job:
    def __init__(self, request: AskingRequest, store: Store) -> None:
        self._request, self._store = request, store
        self._price = price_of(request.settings, request.prices)
        refuse_unpriced(request.settings, self._price, request.max_cost)
        self.report = AskingReport(cost=0.0 if self._price else None)
        self._calls: list[Call] = []
        self._stored: frozenset[str] = frozenset()
        """Calls in the journal that an earlier start has put into the store."""
        self._run = self._new_run()

    def _new_run(self) -> JudgeRun:
        settings = self._request.settings
        return JudgeRun(
            judge_run_id=f"judge-{secrets.token_hex(6)}",
            rubric=RUBRIC,
            rubric_hash=decisive_error().hash,
            variant=self._request.manner,
            judge=f"llm:{settings.model}",
            model=settings.model,
            parameters=Json(orjson.dumps({"answering": settings.answering(), "where": self._request.where}).decode()),
            started_at=now(),
            finished_at=None,
            units=0,
            calls=0,
            tokens_in=0,
            tokens_out=0,
            cost=self.report.cost,
            status="running",
        )

    async def go(self, episodes: Sequence[str], on_progress: Callable[[int, int], None] | None) -> AskingReport:
        """Ask, some games at once."""
        request = self._request
        journal: Journal[dict[str, str], JournalEntry] = Journal(self._journal_path(), {"job": RUBRIC}, JournalEntry)
        done = False

        async def of_game(asker: Asker, game: Transcript) -> list[Verdict]:
            verdicts = await self._of_game(asker, game)
            if on_progress is not None:
                on_progress(self.report.games + self.report.not_asked, len(episodes))
            return verdicts

        try:
            await asyncio.to_thread(self._take_up, journal.before)
            with closing(ReplyCache(request.cache)) if request.cache else nullcontext() as cache:
                terms = JobTerms(budget=Budget(request.max_cost), cache=cache, journal=journal, concurrency=request.concurrency)
                async with Asker((request.settings, *request.more_endpoints), self._price, terms) as asker:
                    for start in range(0, len(episodes), _GAMES_AT_ONCE):
                        games = load(self._store, episodes[start : start + _GAMES_AT_ONCE])
                        verdicts = await asyncio.gather(*(of_game(asker, game) for game in games))
                        await asyncio.to_thread(self._save, [one for two in verdicts for one in two], "running")
            await asyncio.to_thread(self._save, [], "stopped_by_budget" if self.report.not_asked else "finished")
            done = not self.report.not_asked
        except BaseException:
            with suppress(StoreError):
                self._save([], "interrupted")
            raise
        finally:
            await journal.close(delete=done)
        return self.report

    def _take_up(self, before: Sequence[JournalEntry]) -> None:
        """Find out what the store has of an earlier start, which is not under way any more: its journal could be opened."""
        if not before:
            return
        with self._store.reading() as connection:
            ids = [entry.call.call_id for entry in before]
            found = connection.execute("SELECT call_id FROM calls WHERE call_id IN (SELECT unnest(?::VARCHAR[]))", [ids]).fetchall()
        self._stored = frozenset(call_id for (call_id,) in found)
        same = [RUBRIC, self._run.judge, self._run.variant]
        where = "rubric = ? AND judge = ? AND variant = ? AND status = 'running'"
        self._store.transact(lambda transaction: transaction.update("judge_runs", "status = 'interrupted'", where, same))

    def _journal_path(self) -> Path:
        folder = made(self._store.journals / RUBRIC)
        name = f"{self._request.settings.model} {self._request.manner}"
        return folder / f"{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}.jsonl"

    async def _of_game(self, asker: Asker, game: Transcript) -> list[Verdict]:
        failed: list[str] = []
        replies: list[Reply] = []

        async def put(messages: list[Message], form: type[BaseModel]) -> BaseModel | None:
            key = f"{game.episode_id} {hashlib.blake2b(orjson.dumps(messages), digest_size=8).hexdigest()}"
            asked = Request(messages=messages, form=form, key=key, purpose="judge", run=self._run.judge_run_id, episode_id=game.episode_id)
            reply = await asker.ask(asked)
            self._spend(reply)
            replies.append(reply)
            if reply.filled is None:
                failed.append(reply.call.error or reply.call.status)
            return reply.filled

        found = await MANNERS[self._request.manner](game, Ask(put))
        if any(reply.call.status == "unasked" for reply in replies):
            self.report.not_asked += 1
            return []
        self.report.games += 1
        status = "answered" if found else "failed" if failed else "undecided"
        self.report.answered += status == "answered"
        self.report.failed += status == "failed"
        if status == "failed":
            self.report.first_error = self.report.first_error or failed[0]
        self.report.undecided += status == "undecided"
        reason = found.reason if found else failed[0] if failed else "no turn was named"
        whence = [reply.call for reply in replies if found is None or reply.filled is found.form][-1:]
        call_id = next((call.call_id for call in whence if call.attempts), None)
        return [self._verdict(game, question, found, (status, reason, call_id)) for question in ("agent", "step")]

    def _verdict(self, game: Transcript, question: str, found: Answered | None, came: tuple[str, str, str | None]) -> Verdict:
        status, reason, call_id = came
        turn = str(found.turn) if found and found.turn else None
        answer = None if found is None else turn if question == "step" else found.agent or None
        return Verdict(
            judge_run_id=self._run.judge_run_id,
            rubric=RUBRIC,
            rubric_hash=self._run.rubric_hash,
            variant=self._run.variant,
            question=question,
            unit_id=game.episode_id,
            unit_hash=hashlib.blake2b(repr(game.turns).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            episode_id=game.episode_id,
            turn=None,
            agent=None,
            judge=self._run.judge,
            repeat=1,
            answer=answer,
            score=None,
            reason=excerpt(reason, _LONGEST_REASON),
            status="undecided" if status == "answered" and answer is None else status,
            call_id=call_id,
            agent_spoke=found.agent_spoke if found else None,
        )

    def _spend(self, reply: Reply) -> None:
        call = reply.call
        if call.attempts and call.call_id not in self._stored:
            self._calls.append(call)
        if reply.source == "model":
            report = self.report
            report.requests += call.attempts
            report.timed_out += reply.timed_out
            report.tokens_in = added(report.tokens_in, call.tokens_in)
            report.tokens_out = added(report.tokens_out, call.tokens_out)
            report.cost = added(report.cost, call.cost)

    def _save(self, verdicts: Sequence[Verdict], status: RunStatus) -> None:
        report, calls = self.report, self._calls
        self._calls = []
        self._run = self._run._replace(
            units=report.games,
            calls=report.requests,
            tokens_in=report.tokens_in,
            tokens_out=report.tokens_out,
            cost=report.cost,
            finished_at=None if status == "running" else now(),
            status=status,
        )
        save(self._store, Progressed(self._run, replaces="all"), verdicts, calls)
