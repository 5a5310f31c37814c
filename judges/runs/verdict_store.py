"""Judge runs and verdicts, into the store and out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

import orjson

from judges.runs.journal import JournalHead, leftovers, set_aside
from judges.runs.outcomes import CallOutcome
from providers.asker import summed
from schemas.batches import BadRowsError, checked
from schemas.records import Call, JudgeRun, Verdict
from schemas.store import Store
from schemas.text import excerpt
from schemas.transaction import Transaction

if TYPE_CHECKING:
    from pathlib import Path


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


def _storable_call(call: Call) -> Call:
    return call._replace(error=None if call.error is None else _storable(call.error))


def save(store: Store, state: Progressed, verdicts: Sequence[Verdict], calls: Sequence[Call] = ()) -> None:
    """Write verdicts, what was asked for them, and the run's state in one short transaction.

    Raises:
        BadRowsError: a value does not fit its column.
        StoreError: the store cannot be written.
    """
    columns = checked({"judge_runs": [state.run], "verdicts": verdicts, "calls": [_storable_call(call) for call in calls]})

    def write(transaction: Transaction) -> None:
        transaction.delete("judge_runs", "judge_run_id = ?", [state.run.judge_run_id])
        if state.replaces != "nothing" and verdicts and _has_earlier(transaction, state.run):
            _delete_earlier(transaction, state, verdicts)
        transaction.insert_columns(columns)

    store.transact(write)


def _has_earlier(transaction: Transaction, run: JudgeRun) -> bool:
    """Whether another run of the same job stands in the store: only then are its verdicts looked for, which reads all there are."""
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
