"""Kill a scoring run at any moment, start it again: every unit is answered exactly once, and nothing that had arrived is asked again."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest, Tally, plan
from judges.runs.runner import Recorder, run
from schemas.common.errors import StoreError, UsageError
from schemas.records import Utterance
from schemas.store import batches
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, counted, interrupt_with_lines, mark, store_of, verdict_counts
from tests.judges.test_judge_memory import asked, judge_run
from tests.servers.stub_server import stub_server

CALLS = 60
QUESTIONS = 6
RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background of a shell pass on that Ctrl-C is not for them
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from providers.provider import ModelSettings
from schemas.store.store import Store
settings = ModelSettings(model="local/fake", base_url=sys.argv[2], timeout_s=10.0, tries=3, patience_s=3.0)
run(JudgeRequest(rubric=find("pragmatic_sufficiency"), settings=settings, repeats=1, concurrency=8), Store(sys.argv[1]))
"""


def start(store: Store, url: str) -> subprocess.Popen[bytes]:
    """A scoring run in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", RUN, str(store.path), url], stderr=subprocess.PIPE)


def wait_for_answers(url: str, number: int) -> None:
    """Wait until the server has given so many answers."""
    deadline = time.monotonic() + 60
    while (given := counted(url)["answers"]) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01 if given else 0.1)  # until the process is there, asking would only take time from it


@contextmanager
def killed_at(folder: Path, answers: int) -> Iterator[str]:
    """A server, and in the folder a store whose run was killed when it had so many answers: its journal is there."""
    store = store_of(folder / "s.duckdb", games=CALLS // 10, turns=10)
    with stub_server("--latency-ms", "40") as url:
        process = start(store, url)
        wait_for_answers(url, answers)
        process.kill()
        process.communicate()
        yield url


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, int]]:
    """A server, the folder of a store whose run was killed when it had 40 answers, and how many calls had been asked."""
    folder = tmp_path_factory.mktemp("killed")
    with killed_at(folder, 40) as url:
        yield url, folder, counted(url)["requests"]


def copy_of(folder: Path, to: Path) -> tuple[Store, Path]:
    """A store of one's own with the journal beside it."""
    store = Store(shutil.copytree(folder, to / "copy") / "s.duckdb")
    (journal,) = Path(f"{store.path}.journal").glob("*.jsonl")
    return store, journal


def check_completed(store: Store, url: str, asked_before: int) -> None:
    """Of a killed run only the calls in flight (8) can be asked again, and each verdict stands once."""
    assert verdict_counts(store).get("answered", 0) < CALLS * QUESTIONS
    others = counted(url)["requests"] - asked_before
    report = run(ask_model(url, concurrency=8), store)
    requests = counted(url)["requests"] - others

    assert verdict_counts(store) == {"answered": CALLS * QUESTIONS}
    assert CALLS <= requests <= CALLS + 8
    assert report.recovered + report.answered_before + report.requests >= CALLS
    assert not list(Path(f"{store.path}.journal").glob("*.jsonl"))
    with store.reading() as connection:
        runs = connection.execute("SELECT status, sum(calls), sum(tokens_in) FROM judge_runs GROUP BY status ORDER BY status").fetchall()
    assert [row[0] for row in runs] == ["finished", "interrupted"]
    assert sum(row[1] for row in runs) * 1000 == sum(row[2] for row in runs)


def test_a_killed_run_is_completed_without_asking_twice(killed: tuple[str, Path, int], tmp_path: Path) -> None:
    """SIGKILL when most answers were there."""
    url, folder, asked_before = killed
    check_completed(copy_of(folder, tmp_path)[0], url, asked_before)


@pytest.mark.long
def test_a_run_killed_at_its_first_answer_is_completed_without_asking_twice(tmp_path: Path) -> None:
    """As early as there is anything to lose."""
    with killed_at(tmp_path, 1) as url:
        check_completed(Store(tmp_path / "s.duckdb"), url, counted(url)["requests"])


def test_a_second_start_asks_nothing_when_all_is_answered(tmp_path: Path) -> None:
    """The same rubric, model and parameters: no request, no new run; other parameters or repeats are asked."""
    store = store_of(tmp_path / "s.duckdb", turns=5)
    with stub_server() as url:
        first = run(ask_model(url), store)
        again = run(ask_model(url), store)
        more_repeats = run(ask_model(url, repeats=3), store)
        warmer = run(ask_model(url, temperature=0.7), store)
        leaky = run(ask_model(url, variant="published"), store)

    assert (first.requests, again.requests, more_repeats.requests, warmer.requests, leaky.requests) == (5, 0, 10, 5, 5)
    assert (again.judge_run_id, again.answered_before) == (None, 5)


def without(request: JudgeRequest, *questions: str) -> JudgeRequest:
    """The same job before its rubric had these questions."""
    left = {name: question for name, question in request.rubric.questions.items() if name not in questions}
    return replace(request, rubric=request.rubric.changed(questions=left))


def test_one_more_question_asks_only_that_question(tmp_path: Path) -> None:
    """Answers to the others stay as they are; a question whose words change is asked again, alone; other instructions ask all again."""
    store, at_once = store_of(tmp_path / "s.duckdb", turns=5), store_of(tmp_path / "at_once.duckdb", turns=5)
    rows = "SELECT unit_id, unit_hash, question, repeat, status FROM verdicts ORDER BY ALL"  # the stub has other answers to other prompts
    with stub_server() as url:
        whole = ask_model(url)
        first = run(without(whole, "PS2", "PS5"), store)
        with store.reading() as connection:
            before = connection.execute("SELECT * FROM verdicts ORDER BY ALL").fetchall()
        planned = plan(whole, store)
        second = run(whole, store)
        again = run(whole, store)
        fewer = run(without(whole, "PS1"), store)
        run(whole, at_once)

        other_words = {**whole.rubric.questions, "PS3": whole.rubric.questions["PS3"].model_copy(update={"ask": "Otherwise?"})}
        third = run(replace(whole, rubric=whole.rubric.changed(questions=other_words)), store)
        fourth = run(replace(whole, rubric=whole.rubric.changed(instructions="Other instructions.")), store)

    assert (first.requests, first.answered) == (5, 5 * 4)
    assert (planned.calls, second.requests, second.answered) == (5, 5, 5 * 2)
    assert (again.requests, again.answered_before, fewer.requests) == (0, 5, 0)
    assert (third.requests, third.answered, fourth.answered) == (5, 5, 5 * QUESTIONS)
    with store.reading() as one, at_once.reading() as two:
        kept = one.execute("SELECT * FROM verdicts WHERE judge_run_id = ? ORDER BY ALL", [first.judge_run_id]).fetchall()
        both = rows.replace("ORDER", f"WHERE judge_run_id IN ('{first.judge_run_id}', '{second.judge_run_id}') ORDER")
        assert one.execute(both).fetchall() == two.execute(rows).fetchall()
        asked = one.execute("SELECT DISTINCT question FROM verdicts WHERE judge_run_id = ? ORDER BY 1", [second.judge_run_id]).fetchall()
    assert kept == before
    assert asked == [("PS2",), ("PS5",)]


@pytest.mark.long
def test_of_a_run_that_an_older_cotrace_made_the_whole_rubric_counts(tmp_path: Path) -> None:
    """It did not record what each question was: the same rubric has its answers, another one is asked whole."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with stub_server() as url:
        whole = ask_model(url)
        run(without(whole, "PS2"), store)
        with store.writing() as connection:
            connection.execute("UPDATE judge_runs SET parameters = json_merge_patch(parameters, '{\"questions\": null}')")
        same, more = run(without(whole, "PS2"), store), run(whole, store)
    assert (same.requests, more.requests, more.answered) == (0, 2, 2 * QUESTIONS)


@pytest.mark.long
def test_failed_answers_to_an_unchanged_question_are_asked_again_with_the_new_one(tmp_path: Path) -> None:
    """In one call, and the failed rows go."""
    store = store_of(tmp_path / "s.duckdb", turns=12)
    with stub_server("--fault", "refusal:0.5:99") as url:
        first = run(without(ask_model(url), "PS2"), store)
    with stub_server() as url:
        second = run(ask_model(url), store)
    assert 0 < first.failed < 12 * (QUESTIONS - 1)
    assert (second.requests, second.answered) == (12, 12 + first.failed)
    assert verdict_counts(store) == {"answered": 12 * QUESTIONS}


@pytest.mark.long
def test_a_killed_run_of_one_more_question_goes_on(tmp_path: Path) -> None:
    """Its journal knows which questions each call asked."""
    store = store_of(tmp_path / "s.duckdb", games=6, turns=10)
    with stub_server() as url:
        run(without(ask_model(url, model="local/fake"), "PS2"), store)
    with stub_server("--latency-ms", "40") as url:
        process = start(store, url)
        wait_for_answers(url, 20)
        process.kill()
        process.communicate()
        second = run(ask_model(url), store)
        assert second.recovered >= 10
        assert counted(url)["answers"] <= 60 + 8  # calls that were under way
    assert verdict_counts(store) == {"answered": 60 * QUESTIONS}


def test_failed_calls_are_asked_again_and_replaced(tmp_path: Path) -> None:
    """The second start meets a server that has recovered; answered verdicts are left alone."""
    store = store_of(tmp_path / "s.duckdb", turns=12)
    with stub_server("--fault", "refusal:0.5:99") as url:
        first = run(ask_model(url), store)
    with store.reading() as connection:
        reasons = {reason for (reason,) in connection.execute("SELECT reason FROM verdicts WHERE status = 'failed'").fetchall()}
    with stub_server() as url:
        second = run(ask_model(url), store)

    assert first.first_error in reasons
    assert 0 < first.failed < 12 * QUESTIONS
    assert second.requests * QUESTIONS == first.failed
    assert verdict_counts(store) == {"answered": 12 * QUESTIONS}


def test_a_unit_whose_evidence_changed_is_asked_again_and_the_others_are_not(tmp_path: Path) -> None:
    """Verdicts hang on what the judge was shown, not on the row that it came from."""
    store = store_of(tmp_path / "s.duckdb", turns=4)
    with stub_server() as url:
        run(ask_model(url), store)
        with store.writing() as connection:
            connection.execute("UPDATE utterances SET text = 'other words' WHERE text = ?", [mark("public", "D2", 3)])
        again = run(ask_model(url), store)
        with store.writing() as connection:
            connection.execute("UPDATE utterances SET text = 'other thoughts' WHERE channel = 'private'")
        unseen = run(ask_model(url), store)

    assert (again.requests, unseen.requests) == (1, 0)


@pytest.mark.long
def test_a_journal_line_that_was_cut_off_is_left_out(killed: tuple[str, Path, int], tmp_path: Path) -> None:
    """A kill in the middle of a write loses that one line, and nothing before it."""
    url, folder, _ = killed
    store, journal = copy_of(folder, tmp_path)
    journal.write_bytes(journal.read_bytes() + b'["game-0/1","ab')
    run(ask_model(url), store)

    assert verdict_counts(store) == {"answered": CALLS * QUESTIONS}


@pytest.mark.long
def test_two_runs_of_the_same_job_at_once_are_refused_and_of_another_are_not(tmp_path: Path) -> None:
    """The second gets one clear error and leaves the first alone; another rubric may be scored meanwhile."""
    store = store_of(tmp_path / "s.duckdb", games=CALLS // 10, turns=10)
    with stub_server("--latency-ms", "40") as url:
        process = start(store, url)
        wait_for_answers(url, 10)
        with pytest.raises(UsageError, match=rf"being scored by llm:local/fake on this store already \(process {process.pid}\)"):
            run(ask_model(url), store)
        other = run(ask_model(url, "spatial_grounding", where="episode_id = 'game-0'"), store)
        assert process.wait(60) == 0
        process.communicate()

    assert other.answered == 10 * 3 * 7
    assert verdict_counts(store) == {"answered": CALLS * QUESTIONS + other.answered}


@pytest.mark.long
def test_ctrl_c_stores_what_was_answered_and_the_run_can_go_on(tmp_path: Path) -> None:
    """The run ends as interrupted with everything answered in the store; the next one asks the rest."""
    store = store_of(tmp_path / "s.duckdb", games=CALLS // 10, turns=10)
    with stub_server("--latency-ms", "200") as url:
        process = start(store, url)
        wait_for_answers(url, 20)
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate()[1]
        stored = verdict_counts(store)["answered"]
        with store.reading() as connection:
            assert connection.execute("SELECT status FROM judge_runs").fetchall() == [("interrupted",)]
        rest = run(ask_model(url), store)

    assert rest.recovered == 0
    assert rest.answered_before * QUESTIONS == stored
    assert verdict_counts(store) == {"answered": CALLS * QUESTIONS}


def test_replies_that_wait_for_the_disk_when_a_run_is_interrupted_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were paid: they are in the store, and the next start asks none of them again."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=10)
    interrupt_with_lines(monkeypatch, Path(f"{store.path}.journal"), 8)
    with stub_server() as url:
        with pytest.raises(KeyboardInterrupt):
            run(ask_model(url), store)
        assert verdict_counts(store) == {"answered": 8 * QUESTIONS}
        assert run(ask_model(url), store).answered_before == 8
        assert verdict_counts(store) == {"answered": 20 * QUESTIONS}
        assert counted(url)["requests"] == 20


def test_a_store_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call is paid whose verdict could not be kept, and no journal stays behind."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    monkeypatch.setattr("os.access", lambda _, mode: not mode & os.W_OK)  # root may write anything
    with stub_server() as url:
        with pytest.raises(StoreError, match="is read-only: make it writable"):
            run(ask_model(url), store)
        assert counted(url)["requests"] == 0
    assert not list(Path(f"{store.path}.journal").glob("*.jsonl"))


def test_a_run_works_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    """As in a notebook."""
    store = store_of(tmp_path / "s.duckdb", turns=2)

    async def cell() -> int:
        return run(ask_model(url), store).answered

    with stub_server() as url:
        assert asyncio.run(cell()) == 2 * QUESTIONS


def test_a_store_that_is_not_there_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    """No stray journal folder beside a misspelt name."""
    with pytest.raises(StoreError, match="no store at"):
        run(ask_model("http://127.0.0.1:9/v1"), Store(tmp_path / "none.duckdb"))
    assert list(tmp_path.iterdir()) == []


def test_a_unit_without_anything_to_judge_is_skipped_without_a_call(tmp_path: Path) -> None:
    """A turn in which nobody spoke: rows with status `skipped`, no request, and none at the second start."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with store.writing() as connection:
        connection.execute("DELETE FROM utterances WHERE turn = 2")
        silent = Utterance("game-0", 2, 1, "D1", "public", ["Builder"], "  ", tokens=None, superseded=False)
        batches.insert(connection, batches.to_arrow({"utterances": [silent]}))
    with stub_server() as url:
        first, second = run(ask_model(url), store), run(ask_model(url), store)

    assert (first.requests, first.skipped, second.requests, second.skipped) == (1, QUESTIONS, 0, 0)
    assert verdict_counts(store) == {"answered": QUESTIONS, "skipped": QUESTIONS}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("broken", [0, 3], ids=["the line about the run", "one call"])
def test_a_damaged_journal_is_set_aside_and_stops_nobody(
    killed: tuple[str, Path, int], tmp_path: Path, broken: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Calls on sound lines are stored, the others asked again; the file stays for whoever wants to look, and that is said once."""
    url, folder, _ = killed
    store, journal = copy_of(folder, tmp_path)
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[broken] = b'["game-0/1", "ab", "game-0", "three"]\n'
    journal.write_bytes(b"".join(lines))
    other = run(ask_model(url, "spatial_grounding", where="turn = 1"), store)
    again = run(ask_model(url), store)

    assert (other.failed, again.failed) == (0, 0)
    assert verdict_counts(store) == {"answered": CALLS * QUESTIONS + other.answered}
    assert [path.name for path in journal.parent.glob("*.jsonl*")] == [f"{journal.name}.damaged"]
    (told,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert f"line {broken + 1}: " in told
    assert f"{journal.name}.damaged" in told


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("billed", [("-60", "5"), ("7", "9000000000000000000")])
def test_impossible_token_counts_of_a_server_cost_no_answers(tmp_path: Path, billed: tuple[str, str]) -> None:
    """They count as not said, and the next run is not stopped by them."""
    store = store_of(tmp_path / "s.duckdb", turns=3)
    with stub_server("--bills", *billed) as url:
        first = run(ask_model(url), store)
        second = run(ask_model(url, "spatial_grounding"), store)

    assert (first.failed, second.failed) == (0, 0)
    assert (first.tokens_in, first.tokens_out) == (None, None)
    assert verdict_counts(store)["answered"] == first.answered + second.answered


def test_what_a_run_took_is_counted_once_and_stored_while_it_goes(tmp_path: Path) -> None:
    """Each call and its price; one that was cached costs nothing; what has come is in the store before the run ends."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    store.save_every_s = 0.01
    recorder = Recorder(store, find("pragmatic_sufficiency"), judge_run()._replace(cost=0.0), Tally(units=3, calls=3), "nothing")
    outcomes = [asked("g/1", 1, 0.25), asked("g/2", 2, 0.5), asked("g/3", 3, None)._replace(call=None)]

    async def go() -> None:
        saving = asyncio.create_task(recorder.save_regularly())
        for outcome in outcomes:
            recorder.add(outcome)
        deadline = time.monotonic() + 5
        while not await asyncio.to_thread(verdict_counts, store):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        saving.cancel()
        await recorder.finish("finished")

    asyncio.run(go())
    assert (recorder.done, recorder.from_cache) == (3, 1)
    assert (recorder.run.calls, recorder.run.tokens_in, recorder.run.tokens_out, recorder.run.cost) == (4, 20, 6, 0.75)
    assert verdict_counts(store) == {"answered": 9}


@pytest.mark.parametrize("costs", [(0.25, None), (None, 0.25)])
def test_one_call_without_a_price_leaves_what_the_run_took_unknown(tmp_path: Path, costs: tuple[float | None, float | None]) -> None:
    """Whether it comes before or after one that has a price."""
    recorder = Recorder(
        Store(tmp_path / "s.duckdb"), find("pragmatic_sufficiency"), judge_run()._replace(cost=0.0), Tally(units=2, calls=2), "nothing"
    )
    for turn, cost in enumerate(costs, start=1):
        recorder.add(asked(f"g/{turn}", turn, cost))
    assert (recorder.run.cost, recorder.run.calls) == (None, 4)
