"""What is stored of a call: its answers, or why there are none; first in the run's journal, then in the store.

A run writes `<store>.journal/<judge_run_id>.jsonl` (`schemas.store.journal`): a line about the run, then a line a call. The store gets the
verdicts in batches; when all of them are in, the journal is deleted. A journal that is found without its process is what a killed run left
behind: `leftovers` gives it out to be stored. One that cannot be read, or stored, is set aside: it does not stop other runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
import orjson
from pydantic import BaseModel

from judges.evidence.pieces import CONDITIONS
from judges.evidence.prompt import Prompt
from judges.evidence.units import Unit
from judges.rubric import Group, Rubric, answer_model, given
from providers.asker import JournalEntry, Reply, summed
from schemas.chat.answers import read_answer
from schemas.chat.messages import Completion, probability_of
from schemas.common.errors import UsageError
from schemas.common.text import excerpt
from schemas.records import Call, JudgeRun, Verdict
from schemas.replies import read_of_rule
from schemas.store.batches import BadRowsError, checked
from schemas.store.journal import is_held, read
from schemas.store.store import Store, Transaction

if TYPE_CHECKING:
    from pathlib import Path


class About(NamedTuple):
    """What a call asks about: all that is needed to turn its reply into verdicts when the game is not at hand."""

    unit_id: str
    unit_hash: str
    episode_id: str
    turn: int | None
    agent: str | None
    repeat: int
    group: int
    """Index of the rubric's group of questions."""
    flagged: str | None
    """As in `judges.evidence.prompt.flags`."""
    asks: tuple[str, ...] | None = None
    """Questions of the group that are asked; None, in records of older versions: all."""
    settled: tuple[tuple[str, str], ...] = ()
    """Questions of the group that are not asked, each with the condition by which it does not apply."""


class QuestionOutcome(NamedTuple):
    """What came of a question."""

    question: str
    answer: str | None
    """None if there is none."""
    reason: str | None
    """The model's, or why there is no answer."""
    probability: float | None = None
    """Of the answer's tokens, 0..1; None where none were asked for or none came."""
    contradicts: bool | None = None
    """Whether the reason states another answer; None without a reason, and of several answers at once."""
    rule: str | None = None
    """The condition by which it does not apply, as the log itself shows; None if a judge was asked."""


class CallOutcome(NamedTuple):
    """What came of a call."""

    about: About
    status: str
    """answered, failed or skipped."""
    answers: list[QuestionOutcome]
    """Of every question."""
    call: Call | None
    """None if no model was asked."""


def about(unit: Unit, prompt: Prompt, repeat: int, asks: tuple[str, ...], settled: tuple[tuple[str, str], ...]) -> About:
    """What a call with that prompt asks about."""
    return About(
        unit.unit_id, prompt.unit_hash, unit.episode_id, unit.turn, unit.agent, repeat, prompt.group, prompt.flagged(), asks, settled
    )


class Outcomes:
    """Makes outcomes of what models reply to a rubric's questions."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._groups: tuple[Group, ...] = rubric.groups()
        self._forms: dict[tuple[int, tuple[str, ...] | None], type[BaseModel]] = {}

    def form(self, call: About) -> type[BaseModel]:
        """What a reply to a call has to fill in."""
        key = (call.group, call.asks)
        if key not in self._forms:
            self._forms[key] = answer_model(self._asked(call))
        return self._forms[key]

    def of_reply(self, call: About, reply: Reply) -> CallOutcome:
        """What a model has replied just now."""
        return self._outcome(call, reply.call, reply.filled, reply.completion)

    def of_record(self, call: About, record: Call, completion: Completion | None) -> CallOutcome:
        """What a model had replied, as it is on record; a reply that is not an answer makes the call a failed one."""
        answer = read_answer(completion, self.form(call)) if completion and record.status == "answered" else None
        if answer is not None and answer.why_not is not None:
            record = record._replace(status="failed", error=f"no usable reply: {answer.why_not}", read_as=answer.read_as)
            record = record._replace(read=read_of_rule(record.read_as))
        return self._outcome(call, record, answer.filled if answer else None, completion)

    def skipped(self, call: About) -> CallOutcome:
        """Of a unit in which there is nothing to judge."""
        return CallOutcome(call, "skipped", self._without(call, f"nothing to judge: {self._rubric.about} is empty"), None)

    def settled(self, call: About) -> CallOutcome:
        """Of a call none of whose questions applies."""
        return CallOutcome(call, "answered", self._by_rule(call), None)

    def _outcome(self, call: About, record: Call, filled: BaseModel | None, completion: Completion | None) -> CallOutcome:
        paid = record if record.attempts else None
        if filled is None:
            return CallOutcome(call, "failed", [*self._without(call, record.error or "no usable reply"), *self._by_rule(call)], paid)
        answers = [
            QuestionOutcome(
                one.question,
                one.answer,
                one.reason,
                probability_of(completion, one.question, "answer") if completion else None,
                one.contradicts,
            )
            for one in given(self._asked(call), filled)
        ]
        return CallOutcome(call, "answered", [*answers, *self._by_rule(call)], paid)

    def _without(self, call: About, why_not: str) -> list[QuestionOutcome]:
        return [QuestionOutcome(question.id, None, why_not) for question in self._asked(call).questions]

    def _asked(self, call: About) -> Group:
        group = self._groups[call.group]
        return group if call.asks is None else group.only(call.asks)

    def _by_rule(self, call: About) -> list[QuestionOutcome]:
        not_applicable = self._rubric.na_answers()[0] if call.settled else None
        return [QuestionOutcome(question, not_applicable, CONDITIONS[rule].doc, rule=rule) for question, rule in call.settled]


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


_LONGEST_REASON = 4_000

_Ended = Literal["interrupted", "finished"]

Replaces = Literal["nothing", "failed", "all"]


class KnownCalls(NamedTuple):
    """Which calls need not be made any more."""

    answers: frozenset[tuple[str, str, int, str]]
    """(unit_id, unit_hash, repeat, question) of every verdict that did not fail."""
    some_failed: bool
    """Whether failed verdicts of the same job stand in the store, to be replaced."""


class Progressed(NamedTuple):
    """The state of a run to be written with its verdicts."""

    run: JudgeRun
    replaces: Replaces
    """Which earlier verdicts of the same judge on the same questions and units, under the same rubric name, go when these come: the
    `failed` ones, or `all`."""


def found_answers(store: Store, run: JudgeRun) -> KnownCalls:
    """What earlier runs of the same rubric, variant, judge and answering parameters found out about questions that are unchanged."""
    with store.reading() as connection:
        runs = connection.execute(
            "SELECT judge_run_id, rubric_hash, parameters FROM judge_runs "
            "WHERE rubric = ? AND judge = ? AND variant IS NOT DISTINCT FROM ?",
            [run.rubric, run.judge, run.variant],
        ).fetchall()
        same = [(judge_run_id, question) for judge_run_id, *earlier in runs for question in _same_questions(run, *earlier)]
        rows = connection.execute(
            "SELECT unit_id, unit_hash, repeat, question, status = 'failed' FROM verdicts "
            "WHERE (judge_run_id, question) IN (SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]))",
            [[judge_run_id for judge_run_id, _ in same], [question for _, question in same]],
        ).fetchall()
    return KnownCalls(
        answers=frozenset((unit_id, unit_hash, repeat, question) for unit_id, unit_hash, repeat, question, failed in rows if not failed),
        some_failed=any(row[-1] for row in rows),
    )


def _same_questions(run: JudgeRun, rubric_hash: str, parameters: str) -> list[str]:
    """Questions of a run that an earlier one, with that rubric and those parameters, asked in the same way."""
    mine, earlier = orjson.loads(run.parameters), orjson.loads(parameters)
    if mine["answering"] != earlier.get("answering"):
        return []
    known = earlier.get("questions") or (mine["questions"] if rubric_hash == run.rubric_hash else {})  # runs of an older cotrace have none
    return [question for question, its_hash in mine["questions"].items() if known.get(question) == its_hash]


def verdicts_of(run: JudgeRun, scores: Mapping[str, float | None], outcomes: Iterable[CallOutcome]) -> list[Verdict]:
    """One row a question of every call."""
    return [
        Verdict(
            judge_run_id=run.judge_run_id,
            rubric=run.rubric,
            rubric_hash=run.rubric_hash,
            variant=run.variant,
            question=question,
            unit_id=about.unit_id,
            unit_hash=about.unit_hash,
            episode_id=about.episode_id,
            turn=about.turn,
            agent=about.agent,
            judge=run.judge,
            repeat=about.repeat,
            answer=answer,
            score=None if answer is None else scores.get(answer),  # several answers at once have no score
            reason=None if reason is None else _storable(reason),
            probability=probability,
            status="answered" if rule else status,
            flagged=about.flagged,
            call_id=call.call_id if call and not rule else None,
            rule=rule,
            reason_contradicts=contradicts,
        )
        for about, status, answers, call in outcomes
        for question, answer, reason, probability, contradicts, rule in answers
    ]


def _storable(reason: str) -> str:
    return reason if reason.isascii() and reason.isprintable() and len(reason) <= _LONGEST_REASON else excerpt(reason, _LONGEST_REASON)


def save(store: Store, state: Progressed, verdicts: Sequence[Verdict], calls: Sequence[Call] = ()) -> None:
    """Write verdicts, what was asked for them, and the run's state in one short transaction.

    Raises:
        BadRowsError: a value does not fit its column.
        StoreError: the store cannot be written.
    """
    storable = [call._replace(error=None if call.error is None else _storable(call.error)) for call in calls]
    columns = checked({"judge_runs": [state.run], "verdicts": verdicts, "calls": storable})

    def write(transaction: Transaction) -> None:
        transaction.delete("judge_runs", "judge_run_id = ?", [state.run.judge_run_id])
        if state.replaces != "nothing" and verdicts and _has_earlier(transaction, state.run):
            _delete_earlier(transaction, state, verdicts)
        transaction.insert_columns(columns)

    store.transact(write)
    if state.run.finished_at is not None:
        store.come_to_rest()


def _has_earlier(transaction: Transaction, run: JudgeRun) -> bool:
    """Whether another run of the same job is in the store: only then are its verdicts looked for, which reads all there are."""
    job = [run.rubric, run.judge, run.variant, run.judge_run_id]
    same = "rubric = ? AND judge = ? AND variant IS NOT DISTINCT FROM ? AND judge_run_id <> ?"
    return transaction.execute(f"SELECT 1 FROM judge_runs WHERE {same} LIMIT 1", job).fetchone() is not None


def _delete_earlier(transaction: Transaction, state: Progressed, verdicts: Sequence[Verdict]) -> None:
    run = state.run
    keys = zip(*((v.unit_id, v.repeat, v.question) for v in verdicts), strict=True)
    only_failed = "AND status = 'failed'" if state.replaces == "failed" else ""
    transaction.delete(
        "verdicts",
        f"rubric = ? AND judge = ? AND variant IS NOT DISTINCT FROM ? AND judge_run_id <> ? {only_failed} "
        "AND (unit_id, repeat, question) IN (SELECT unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::VARCHAR[]))",
        [run.rubric, run.judge, run.variant, run.judge_run_id, *(list(k) for k in keys)],
    )


def take_up(store: Store, folder: Path, about_to_start: JudgeRun) -> int:
    """Store what killed runs have left; returns the number of calls stored. A journal of which some cannot be stored is set aside.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: a run that would write the same verdicts is under way.
    """
    stored = 0
    for leftover in leftovers(folder, about_to_start):
        why = leftover.damage
        try:
            if leftover.job is not None:
                stored += _store(store, leftover.job, leftover.outcomes, "interrupted")
        except BadRowsError as error:
            why = str(error)
        if why is None:
            leftover.path.unlink(missing_ok=True)
        else:
            set_aside(leftover, why)
    return stored


def recover(store: Store, path: Path, job: JournalHead, outcomes: Sequence[CallOutcome], status: _Ended) -> int:
    """Store what a batch has brought and the store lacks, then delete its record; returns the number of calls stored."""
    stored = _store(store, job, outcomes, status)
    path.unlink(missing_ok=True)
    return stored


def _store(store: Store, job: JournalHead, outcomes: Sequence[CallOutcome], status: _Ended) -> int:
    """The record is deleted only after the store has everything, so a kill in here loses and doubles nothing either."""
    with store.reading() as connection:
        rows = connection.execute(
            "SELECT DISTINCT unit_id, unit_hash, repeat FROM verdicts WHERE judge_run_id = ?", [job.run.judge_run_id]
        ).fetchall()
    stored = set(rows)
    missing = [one for one in outcomes if (one.about.unit_id, one.about.unit_hash, one.about.repeat) not in stored]
    calls = paid_for(outcomes)
    run = job.run._replace(
        calls=sum(call.attempts for call in calls),
        tokens_in=summed(call.tokens_in for call in calls),
        tokens_out=summed(call.tokens_out for call in calls),
        cost=None if job.run.cost is None else summed(call.cost for call in calls),
        finished_at=datetime.now(UTC).replace(tzinfo=None) if status == "finished" else None,
        status=status,
    )
    save(store, Progressed(run, replaces="failed"), verdicts_of(run, job.rubric.answers, missing), paid_for(missing))
    return len(missing)


def paid_for(outcomes: Iterable[CallOutcome]) -> list[Call]:
    """The calls for which a model was asked."""
    return [one.call for one in outcomes if one.call is not None]
