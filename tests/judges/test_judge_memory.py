"""What a scoring run holds in memory: nothing that it does not need, and no more for many units than for few."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from judges.rubric_files.load import find
from judges.runs.outcomes import About, CallOutcome, JournalHead, Progressed, QuestionOutcome, Replaces, recover, save
from schemas.common.errors import StoreError
from schemas.records import Call, Json, JudgeRun, TurnMetric, Utterance, Verdict
from schemas.store import batches
from schemas.store.batches import BadRowsError, checked
from schemas.store.store import Store
from tests.judges.judged_games import store_of
from tests.servers.stub_server import stub_server

JUDGE = """
import sys
from cotrace.cli import main
store, url = sys.argv[1:]
sys.argv = ["cotrace", "judge", "--store", store, "--rubric", "pragmatic_sufficiency"]
sys.argv += ["--model", "local/fake", "--base-url", url]
try:
    main()
finally:
    heavy = ("anthropic", "dspy", "hypothesis", "numba", "pandas", "pyarrow", "scipy", "sklearn")
    print("imported", *sorted(set(heavy) & set(sys.modules)))
"""


@pytest.mark.long
@pytest.mark.usefixtures("with_views")
def test_a_judge_run_imports_nothing_heavy_that_it_does_not_use(tmp_path: Path) -> None:
    """A whole `cotrace judge`, from the command line to the verdicts in the store. Its peak is measured by `benchmarks/judge_run.py`."""
    store = store_of(tmp_path / "s.duckdb", turns=5)
    with stub_server() as url:
        done = subprocess.run([sys.executable, "-c", JUDGE, str(store.path), url], capture_output=True, text=True, check=True)
    assert "imported\n" in done.stdout


def verdict(**changes: object) -> Verdict:
    """An answer of run r."""
    given = Verdict("r", "ps", "h", None, "PS1", "g/1", "u", "g", 1, None, "llm:m", 1, "yes", 1.0, "so", "answered", None, None)
    return given._replace(**changes)  # type: ignore[arg-type]


def judge_run() -> JudgeRun:
    """A run r."""
    return JudgeRun("r", "ps", "h", None, "llm:m", "m", Json("{}"), datetime(2026, 1, 1), None, 0, 0, 0, 0, None, "running")  # noqa: DTZ001


BROKEN = {
    "a turn below zero": (verdict(turn=-1), "column turn"),
    "a probability above one": (verdict(probability=1.5), "column probability"),
    "a null where none may be": (verdict(question=None), "column question"),
    "a text for a number": (verdict(repeat="1"), "column repeat"),
    "an unknown status": (verdict(status="so-so"), "column status: so-so must be one of answered, undecided, failed, skipped"),
    "an unknown kind of judge": (verdict(judge="kim"), "column judge: kim must be like"),
    "a score without an answer": (verdict(status="failed", answer=None), "column score: 1.0 must fit the rule"),
    "an answer that failed": (verdict(status="failed", score=None), "column answer: yes must fit the rule"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_rows_without_arrow_are_held_to_the_schemas_of_those_with_it(name: str) -> None:
    """Both ways into the store refuse the same rows; the message names table and column."""
    row, told = BROKEN[name]
    with pytest.raises(BadRowsError, match=f"table verdicts, {told}"):
        checked({"verdicts": [row]})
    with pytest.raises((StoreError, ValueError, TypeError)):
        batches.check(batches.to_arrow({"verdicts": [row]}))


def test_rows_without_arrow_come_out_as_they_were(tmp_path: Path) -> None:
    """Values that all rows share, nulls, and signs that no terminal shows."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    rows = [verdict(), verdict(), verdict(question="PS2", reason="h\u00e9\n\0'\"", answer=None, score=None, probability=0.25)]
    run = judge_run()
    save(store, Progressed(run, replaces="nothing"), rows)
    with store.reading() as connection:
        assert sorted(map(repr, connection.execute("FROM verdicts").fetchall())) == sorted(repr(tuple(row)) for row in rows)
        assert connection.execute("FROM judge_runs").fetchall() == [tuple(run)]


def test_rows_that_share_everything_stay_as_many_as_they_were(tmp_path: Path) -> None:
    """Equal rows of numbers and texts, and such with lists."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    said = Utterance("e", 1, 1, "a", "public", ["a", "b"], "so", None, superseded=False)
    rows = checked({"turn_metrics": [TurnMetric("e", 1, "craft.iou_score", 0.5)] * 3, "utterances": [said] * 2})
    store.transact(lambda transaction: transaction.insert_columns(rows))
    with store.reading() as connection:
        assert connection.execute("FROM turn_metrics").fetchall() == [("e", 1, "craft.iou_score", 0.5)] * 3
        assert connection.execute("FROM utterances").fetchall() == [tuple(said)] * 2


@pytest.mark.parametrize("row", [verdict(reason="half \ud800"), verdict(repeat=2**70)], ids=["half a surrogate pair", "a huge number"])
def test_what_no_column_can_hold_is_told_and_leaves_no_row(tmp_path: Path, row: Verdict) -> None:
    """The transaction is rolled back whole."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with pytest.raises(BadRowsError, match="table verdicts"):
        save(store, Progressed(judge_run(), replaces="nothing"), [row])
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM judge_runs").fetchone() == (0,)


def test_one_table_has_the_same_bounds_both_ways() -> None:
    """A count cannot be negative, whichever way it goes in."""
    with pytest.raises(BadRowsError, match="table turn_metrics, column turn: -1 must be at least 0"):
        checked({"turn_metrics": [TurnMetric("e", -1, "craft.iou_score", 0.5)]})


@pytest.mark.parametrize(("replaces", "stay"), [("nothing", {"PS1", "PS2"}), ("failed", {"PS1"}), ("all", set())])
def test_a_later_run_replaces_nothing_or_what_failed_or_all(tmp_path: Path, replaces: Replaces, stay: set[str]) -> None:
    """Of an earlier run with an answer to one question and none to the other."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    failed = verdict(question="PS2", answer=None, score=None, status="failed")
    save(store, Progressed(judge_run(), replaces="nothing"), [verdict(), failed])
    later = [verdict(judge_run_id="later", question=question) for question in ("PS1", "PS2")]
    save(store, Progressed(judge_run()._replace(judge_run_id="later"), replaces), later)
    with store.reading() as connection:
        found = connection.execute("SELECT question FROM verdicts WHERE judge_run_id = 'r'").fetchall()
        assert {question for (question,) in found} == stay
        assert connection.execute("SELECT count(*) FROM verdicts WHERE judge_run_id = 'later'").fetchone() == (2,)


@pytest.mark.parametrize(("costs", "told"), [((0.25, 0.5), 0.75), ((0.25, 0.0), 0.25), ((0.25, None), None)])
def test_what_a_killed_run_left_is_stored_with_its_scores_and_what_it_cost(
    tmp_path: Path, costs: tuple[float, float | None], told: float | None
) -> None:
    """Each answer scores as the rubric says; one call without a price leaves the sum unknown, as in a run that was not killed."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    outcomes = [asked(f"g/{turn}", turn, cost) for turn, cost in enumerate(costs, start=1)]
    run = judge_run()._replace(cost=0.0)
    job = JournalHead(run, find("pragmatic_sufficiency"), process=1)
    assert recover(store, tmp_path / "none.jsonl", job, outcomes, "interrupted") == len(outcomes)
    with store.reading() as connection:
        assert connection.execute("SELECT status, finished_at, calls, tokens_in, tokens_out, cost FROM judge_runs").fetchall() == [
            ("interrupted", None, 4, 20, 6, told)
        ]
        assert connection.execute("SELECT question, answer, score, count(*) FROM verdicts GROUP BY ALL ORDER BY ALL").fetchall() == [
            ("PS1", "yes", 1.0, 2),
            ("PS2", "no", 0.0, 2),
            ("PS3", None, None, 2),
        ]
        assert connection.execute("SELECT max(length(reason)) FROM verdicts").fetchone() == (4000,)


def asked(unit: str, turn: int, cost: float | None) -> CallOutcome:
    """A call about a unit, answered at the second attempt: a yes, a no, and no answer to the third question."""
    call = Call(
        call_id=unit,
        purpose="judge",
        run=None,
        episode_id="g",
        turn=turn,
        agent=None,
        model="local/fake",
        prompt_hash="p",
        reply=None,
        reasoning=None,
        finish_reason=None,
        tokens_in=10,
        tokens_out=3,
        tokens_cached=0,
        tokens_reasoning=0,
        cost=cost,
        latency_s=None,
        attempts=2,
        status="answered",
        error=None,
        asked_at=datetime(2026, 1, 1),  # noqa: DTZ001 - times in the store have no zone
    )
    answers = [QuestionOutcome("PS1", "yes", "so"), QuestionOutcome("PS2", "no", None), QuestionOutcome("PS3", None, "nothing said " * 500)]
    return CallOutcome(About(unit, "h", "g", turn, None, 1, 0, None), "answered", answers, call)
