"""The table `calls`: what was asked of a model for verdicts, reply by reply, with what each took."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analytics.query import query
from judges.runs.judge_batch import collect, submit
from judges.runs.runner import run
from tests.judges.judged_games import ask_model, counted, store_of
from tests.servers.stub_server import stub_server

TURNS = 12
PRICES = "local/*: {input: 3, output: 15}\n"
CALL_COST = (1000 * 3 + 100 * 15) / 1e6


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """3 and 15 USD a million tokens."""
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES)
    return path


def test_every_call_is_a_row_and_every_verdict_names_its_own(tmp_path: Path, prices: Path) -> None:
    """Reply word for word, tokens, cost, time, attempts; refused ones too; together they are what the run has taken."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    with stub_server("--fault", "refusal:0.3:9", "--fault", "missing:0.3") as url:
        report = run(ask_model(url, prices=prices), store)

    calls = query(store, "select * from calls").rows(named=True)
    assert len(calls) == TURNS
    assert {(c["purpose"], c["run"], c["model"]) for c in calls} == {("judge", report.judge_run_id, "local/fake")}
    assert sorted(c["turn"] for c in calls) == list(range(1, TURNS + 1))
    assert sum(c["attempts"] for c in calls) == report.requests > TURNS
    assert sum(c["tokens_in"] for c in calls) == report.tokens_in
    assert sum(c["cost"] for c in calls) == pytest.approx(report.cost) == pytest.approx(report.requests * CALL_COST)
    assert {c["status"] for c in calls} == {"answered", "failed"}
    assert all((c["error"] or "").startswith("refused: ") for c in calls if c["status"] == "failed")
    assert all(c["latency_s"] > 0 for c in calls)
    joined = query(store, "select question, answer, verdicts.turn = calls.turn, reply from verdicts join calls using (call_id)").rows()
    assert len(joined) == TURNS * 6
    assert all(same for _, _, same, _ in joined)
    assert all(json.loads(reply)[question]["answer"] == answer for question, answer, _, reply in joined if answer)


@pytest.mark.long
def test_a_reply_out_of_the_cache_is_no_call(tmp_path: Path) -> None:
    """Nothing was asked, so nothing was taken; the verdicts say so."""
    first, second = (store_of(tmp_path / f"{name}.duckdb", turns=2) for name in "ab")
    with stub_server() as url:
        for store in (first, second):
            run(ask_model(url, cache=tmp_path), store)

    assert query(second, "select count(*) from calls").rows() == [(0,)]
    assert query(second, "select count(*), count(call_id) from verdicts").rows() == [(12, 0)]


RUN = """
import sys
from judges.runs.runner import run
from schemas.store.store import Store
from tests.judges.judged_games import ask_model
run(ask_model(sys.argv[2], concurrency=4), Store(sys.argv[1]))
"""


@pytest.mark.long
def test_after_a_kill_every_call_stands_once(tmp_path: Path) -> None:
    """Those in the journal come into the store with the verdicts that they brought."""
    store = store_of(tmp_path / "s.duckdb", games=6, turns=10)
    with stub_server("--latency-ms", "30") as url:
        process = subprocess.Popen([sys.executable, "-c", RUN, str(store.path), url])
        while counted(url)["answers"] < 25:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        run(ask_model(url), store)

    assert query(store, "select count(*), count(distinct call_id) from calls").rows() == [(60, 60)]
    assert query(store, "select count(*) from verdicts left join calls using (call_id) where calls.call_id is null").rows() == [(0,)]


@pytest.mark.long
def test_a_batch_brings_its_calls(tmp_path: Path, prices: Path) -> None:
    """As a direct run would, but for the time that each took."""
    store, direct = (store_of(tmp_path / f"{name}.duckdb", turns=3) for name in "ab")
    with stub_server() as url:
        submit(ask_model(url, prices=prices), store)
        collect(store)
        collect(store)
        run(ask_model(url, prices=prices), direct)

    columns = "prompt_hash, reply, finish_reason, tokens_in, tokens_out, cost, attempts, status, turn"
    rows = f"select {columns} from calls order by all"
    assert query(store, rows).rows() == query(direct, rows).rows()
    assert query(store, "select cost from judge_runs").rows() == [(pytest.approx(3 * CALL_COST),)]


def test_a_store_of_an_older_cotrace_gets_the_table(tmp_path: Path) -> None:
    """And the column that names the call."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with store.writing() as connection:
        connection.execute("DROP TABLE calls")
        connection.execute("ALTER TABLE verdicts DROP COLUMN call_id")
    with stub_server() as url:
        run(ask_model(url), store)

    assert query(store, "select count(*) from verdicts join calls using (call_id)").rows() == [(6,)]
