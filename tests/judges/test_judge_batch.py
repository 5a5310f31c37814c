"""Provider batches: submitted, left alone, collected; each unit exactly once, whatever is interrupted."""

from __future__ import annotations

import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner

from cotrace.cli import cli
from judges.runs.judge_batch import collect, pending_batches, submit, write_record
from judges.runs.runner import run
from schemas.common.errors import CotraceError, UsageError
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.servers.serving import application, served
from tests.servers.stub_server import stub_server


def test_a_batch_is_submitted_and_collected_later(tmp_path: Path) -> None:
    """Nothing is stored while it is under way; then everything, as a direct run would; a direct run after it has nothing to ask."""
    store, direct = (store_of(tmp_path / f"{name}.duckdb", games=2, turns=3) for name in "ab")
    with stub_server() as url:
        sent = submit(ask_model(url), store)
        early = collect(store)
        assert (sent.calls, verdict_counts(store)) == (6, {})
        assert [(one.status, one.answered) for one in early] == [("in_progress", 0)]

        (done,) = collect(store)
        again = run(ask_model(url), store)
        run(ask_model(url), direct)

    assert (done.status, done.answered, done.failed) == ("completed", 6, 0)
    assert verdict_counts(store) == {"answered": 36}
    assert (again.requests, again.answered_before) == (0, 6)
    rows = "SELECT unit_id, question, answer, reason, unit_hash, score FROM verdicts ORDER BY ALL"
    with store.reading() as one, direct.reading() as two:
        assert one.execute(rows).fetchall() == two.execute(rows).fetchall()
        assert one.execute("SELECT status, calls, tokens_in FROM judge_runs").fetchall() == [("finished", 6, 6000)]
    assert collect(store) == []


@pytest.mark.long
def test_a_batch_asks_only_the_questions_that_have_no_answer(tmp_path: Path) -> None:
    """One more question of a rubric is submitted alone."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=3)
    with stub_server() as url:
        whole = ask_model(url)
        fewer = {name: question for name, question in whole.rubric.questions.items() if name != "PS4"}
        run(replace(whole, rubric=whole.rubric.changed(questions=fewer)), store)
        assert submit(whole, store).calls == 6
        collect(store)
        (done,) = collect(store)
    assert (done.status, done.answered) == ("completed", 6)
    assert verdict_counts(store) == {"answered": 36}


@pytest.mark.long
def test_bad_replies_are_failed_rows_and_asked_again(tmp_path: Path) -> None:
    """Answers that are not allowed, refusals and errors of the provider have no answer; the next start asks for them only."""
    store = store_of(tmp_path / "s.duckdb", turns=20)
    with stub_server("--fault", "not-allowed:0.3", "--fault", "refusal:0.3", "--fault", "500:0.3", "--fault", "prose:0.5") as url:
        submit(ask_model(url), store)
        collect(store)
        (done,) = collect(store)
        again = run(ask_model(url), store)

    assert done.answered + done.failed == 20
    assert min(done.answered, done.failed) > 0
    assert again.answered_before == done.answered
    assert verdict_counts(store) == {"answered": 120}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fault", ["content-endless", "content-bomb"])
def test_a_file_of_replies_without_end_is_not_taken_in(tmp_path: Path, fault: str) -> None:
    """It is given up when a line is longer than a reply can be; the batch stays to be collected."""
    store = store_of(tmp_path / "s.duckdb", turns=3)
    with stub_server("--batches", fault) as url:
        submit(ask_model(url), store)
        collect(store)
        tracemalloc.start()
        with pytest.raises(CotraceError, match=r"more than [0-9,]+ bytes, which no answer takes"):
            collect(store)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert peak < 20 * 2**20
    assert len(list(pending_batches(store.journals))) == 1


def test_lines_that_are_no_replies_are_passed_over(tmp_path: Path) -> None:
    """What a provider adds, or damages, costs no answer that came."""
    store = store_of(tmp_path / "s.duckdb", turns=3)
    with stub_server("--batches", "content-odd") as url:
        submit(ask_model(url), store)
        collect(store)
        (done,) = collect(store)

    assert (done.answered, done.failed) == (3, 0)


@pytest.mark.long
def test_nothing_is_asked_that_a_batch_is_being_asked(tmp_path: Path) -> None:
    """Neither by another batch nor directly; another model may be asked."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with stub_server() as url:
        submit(ask_model(url), store)
        for start in (submit, run):
            with pytest.raises(UsageError, match="--collect"):
                start(ask_model(url), store)
        assert run(ask_model(url, model="local/other"), store).answered == 6


def test_a_kill_while_submitting_or_collecting_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A batch whose id was never noted is found by its run; answers that were stored just before the kill are not stored again."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    folder = store.journals
    with stub_server() as url:
        submit(ask_model(url), store)
        ((_, record),) = pending_batches(folder)
        write_record(folder, record._replace(batch_id=None))
        collect(store)  # found, done: the list tells the second state after the first look
        write_record(folder, record)
        collect(store)
        collect(store)

    assert verdict_counts(store) == {"answered": 12}
    assert list(pending_batches(folder)) == []


@pytest.mark.long
def test_a_batch_that_never_arrived_is_given_up(tmp_path: Path) -> None:
    """The provider does not know it: the job can be started again."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with stub_server() as url, stub_server() as empty:
        submit(ask_model(url), store)
        ((_, record),) = pending_batches(store.journals)
        request = ask_model(empty)
        assert request.settings is not None
        write_record(store.journals, record._replace(batch_id=None, settings=request.settings))

        assert [one.status for one in collect(store)] == ["lost"]
        assert run(ask_model(url), store).answered == 6


def test_a_connection_that_breaks_after_the_provider_took_the_batch(tmp_path: Path) -> None:
    """It is not submitted a second time, and collecting finds it."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with stub_server("--batches", "batch-cut") as url:
        with pytest.raises(CotraceError, match="finds out whether it has the batch"):
            submit(ask_model(url), store)
        with pytest.raises(UsageError, match="--collect"):
            run(ask_model(url), store)
        assert [one.calls for _ in range(2) for one in collect(store)] == [2, 2]
        assert counted(url)["requests"] == 2


def test_a_provider_that_refuses_or_has_no_batches_is_told_in_one_line(tmp_path: Path) -> None:
    """And nothing stands in the way of asking directly."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with stub_server("--batches", "batch-refused") as url:
        with pytest.raises(CotraceError, match=r"no batches today.*without --batch"):
            submit(ask_model(url), store)
        assert run(ask_model(url), store).answered == 6
    with pytest.raises(UsageError, match="not with anthropic"):
        submit(ask_model(None, model="anthropic/claude"), store)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one game of one turn."""
    return store_of(tmp_path_factory.mktemp("batches") / "s.duckdb", turns=1).path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("odd", ["{}", '"text"', "[]", "null", '{"data": 3}', '{"id": 1, "status": []}', "no JSON", "["])
def test_what_is_not_a_batch_ends_in_one_line(prepared: Path, tmp_path: Path, odd: str) -> None:
    """Where a batch should be, when it is submitted and when it is looked for; the batch stays to be collected."""
    store = Store(shutil.copy(prepared, tmp_path / "s.duckdb"))
    asked: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.headers.get("x-mine"))
        return web.Response(text=odd, content_type="application/json")

    app = application()
    app.router.add_route("*", "/{path:.*}", answer)
    with served(app) as url:
        for _ in range(2):
            with pytest.raises(CotraceError, match=r"\A[^\n]*--collect[^\n]*\Z"):
                submit(ask_model(url, headers=(("x-mine", "y"),)), store)
        for _ in range(2):
            with pytest.raises(CotraceError, match=r"\Athe provider cannot tell of the batch[^\n]*\Z"):
                collect(store)
    assert set(asked) == {"y"}
    assert len(list(pending_batches(store.journals))) == 1


def test_a_budget_limits_what_is_submitted(tmp_path: Path) -> None:
    """Only calls whose highest cost fits are in the batch."""
    store = store_of(tmp_path / "s.duckdb", turns=10)
    prices = tmp_path / "prices.yaml"
    prices.write_text("local/fake: {input: 1.0, output: 10.0}\n")
    with stub_server() as url:
        sent = submit(ask_model(url, prices=prices, max_cost=0.02, max_tokens=100), store)

        assert 0 < sent.calls < 10
        assert sent.calls + sent.left_out == 10
        assert counted(url)["requests"] == sent.calls


@pytest.mark.usefixtures("with_views")
def test_the_commands(tmp_path: Path) -> None:
    """Submit, look, collect, and nothing left."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with stub_server() as url:
        arguments = ["judge", "--rubric", "pragmatic_sufficiency", "--model", "local/m", "--base-url", url, "--repeats", "1", "--batch"]
        outputs = [
            CliRunner().invoke(cli, [*command, "--store", str(store.path)]) for command in (arguments, *[["judge", "--collect"]] * 3)
        ]

    assert [done.exit_code for done in outputs] == [0, 0, 0, 0]
    for done, text in zip(outputs, ("1 call in batch", "in_progress", "stored 1 answered", "no batch is waiting"), strict=True):
        assert text in done.output
