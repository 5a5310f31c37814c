"""A judge run against a server that misbehaves in every way: each call ends in one verdict, and no answer is made up."""

from __future__ import annotations

import os
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path
from time import time

import pytest
from tenacity import wait_random_exponential

from judges.runs.runner import run
from providers import faults, pacing
from providers.faults import HopelessError, retry_after_s
from schemas.common.errors import UsageError
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.servers.stub_server import stub_server

TURNS = 6
QUESTIONS = 6

PASSING = ["429", "429-after", "429-date", "500", "hang", "cut", "empty", "html", "null", "no-choices"]
UNUSABLE = ["wrong-keys", "missing", "not-allowed", "broken-json", "too-long"]


@pytest.fixture(autouse=True)
def _quick_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server asks for no time: what is counted here are the tries, not the seconds between them."""
    monkeypatch.setattr(faults, "_exponential", wait_random_exponential(multiplier=0.02, max=30.0))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fault", [*PASSING, *UNUSABLE])
def test_a_fault_that_passes_costs_one_more_request_and_no_verdict(tmp_path: Path, fault: str) -> None:
    """Every call is hit once; every call is answered on its second request."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    with stub_server("--fault", fault) as url:
        # every call meets its own 429, and each of them closes the gate to all for a second
        report = run(ask_model(url, timeout_s=1.0, patience_s=20.0), store)
        server = counted(url)

    assert verdict_counts(store) == {"answered": TURNS * QUESTIONS}
    assert report.requests == server["requests"] == 2 * TURNS
    assert server["faults"] == {fault: TURNS}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "requests", "reason"),
    [
        ("500", 3, "HTTP 500"),
        ("hang", 3, "no complete reply within 0.5 s"),
        ("cut", 3, "connection error: Response payload is not completed"),
        ("empty", 3, "not a chat completion"),
        ("html", 3, "not a chat completion"),
        ("400", 1, "HTTP 400"),
        ("wrong-keys", 3, "PS1: Field required"),
        ("missing", 3, "PS1: Field required"),
        ("endless", 1, "the reply has more than 1,144,576 bytes"),
        ("not-allowed", 3, "PS1.answer: Input should be 'yes', 'no' or 'unclear'"),
        ("broken-json", 3, "Invalid JSON"),
        ("too-long", 2, "max_tokens"),
        ("refusal", 1, "refused: I cannot judge this"),
        ("bomb", 1, "the reply has more than 1,144,576 bytes"),
        ("brotli", 1, "packed as 'br', which was not asked for"),
        ("deep", 3, "not a chat completion"),
    ],
)
def test_a_fault_that_stays_becomes_failed_rows_with_the_error(tmp_path: Path, fault: str, requests: int, reason: str) -> None:
    """Some of the calls never succeed: they are `failed` with the reason and without an answer, the others are answered."""
    store = store_of(tmp_path / "s.duckdb", turns=12)
    with stub_server("--fault", f"{fault}:0.3:99") as url:
        patience = 0.5 if fault == "hang" else 10.0  # a slow machine may take its time over a bomb
        report = run(ask_model(url, timeout_s=patience, concurrency=1), store)
        met = counted(url)["faults"][fault]

    failed = met // requests
    assert met == failed * requests > 0
    assert verdict_counts(store) == {"answered": (12 - failed) * QUESTIONS, "failed": failed * QUESTIONS}
    assert (report.status, report.failed) == ("finished", failed * QUESTIONS)
    with store.reading() as connection:
        rows = connection.execute("SELECT answer, score, reason FROM verdicts WHERE status = 'failed'").fetchall()
    assert {(answer, score) for answer, score, _ in rows} == {(None, None)}
    assert all(reason in text for _, _, text in rows), rows[0]


def test_an_answer_in_prose_around_the_json_is_used_without_asking_again(tmp_path: Path) -> None:
    """It is complete, so it need not be paid twice."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    with stub_server("--fault", "prose:1:99") as url:
        report = run(ask_model(url), store)

    assert report.requests == TURNS
    assert verdict_counts(store) == {"answered": TURNS * QUESTIONS}


def test_a_model_is_shown_what_was_wrong_with_its_reply(tmp_path: Path) -> None:
    """The second request carries the first reply and the reason it could not be used."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with stub_server("--fault", "not-allowed") as url:
        run(ask_model(url), store)
        messages = counted(url)["last_bodies"][-1]["messages"]

    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "perhaps" in messages[2]["content"]
    assert "PS1.answer: Input should be 'yes', 'no' or 'unclear'" in messages[3]["content"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("401", "refuses the API key"),
        ("quota", "no money left"),
        ("400", "turns every request down"),
        ("elsewhere", "sends requests on to http://localhost"),
    ],
)
def test_what_no_request_can_survive_stops_the_run_with_one_error(tmp_path: Path, fault: str, message: str) -> None:
    """A thousand failed rows would hide the cause; the run ends as interrupted and can be started again."""
    store = store_of(tmp_path / "s.duckdb", turns=12)
    with stub_server("--fault", f"{fault}:1:99") as url:
        with pytest.raises(HopelessError, match=message):
            run(ask_model(url, concurrency=2), store)
        assert counted(url)["requests"] < 12
    with store.reading() as connection:
        assert connection.execute("SELECT status, finished_at IS NOT NULL FROM judge_runs").fetchall() == [("interrupted", True)]


def test_a_server_that_only_limits_stops_the_run_and_keeps_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing but 429 comes any more, the run says so instead of failing every unit."""
    monkeypatch.setattr(pacing, "_LONGEST_LIMIT_PAUSE_S", 0.5)
    store = store_of(tmp_path / "s.duckdb", turns=24)
    with stub_server("--fault", "429:0.5:999") as url, pytest.raises(HopelessError, match="nothing but 429"):
        run(ask_model(url, patience_s=1, concurrency=24), store)

    assert verdict_counts(store)["answered"] > 0


def test_a_server_that_is_not_there_is_said_quickly(tmp_path: Path) -> None:
    """Nothing was ever reached: one error that names the address."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with pytest.raises(HopelessError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached: is the server running"):
        run(ask_model("http://127.0.0.1:9/v1"), store)


def test_a_redirect_within_the_server_is_followed(tmp_path: Path) -> None:
    """Servers move things; the key stays with them."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    with stub_server("--fault", "here") as url:
        run(ask_model(url), store)

    assert verdict_counts(store) == {"answered": TURNS * QUESTIONS}


@pytest.mark.long
@pytest.mark.usefixtures("with_views")
@pytest.mark.parametrize("fault", ["endless", "bomb"])
def test_no_reply_can_fill_the_memory(tmp_path: Path, fault: str) -> None:
    """Eight at once, each of 200 MiB or without end: the process grows by a fraction of one, and says what was wrong."""
    store_of(tmp_path / "s.duckdb", turns=16)
    with stub_server("--fault", f"{fault}:1:999") as url:
        command = f"""
from pathlib import Path
from cotrace.cli import main
def peak():  # of this program alone: what getrusage says begins with what the parent had
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
try:
    main(["judge", "--rubric", "pragmatic_sufficiency", "--model", "openai/x", "--base-url", "{url}", "--concurrency", "8"])
except SystemExit as ended:
    print(peak(), ended.code)
"""
        environment = {**os.environ, "COTRACE_STORE": str(tmp_path / "s.duckdb")}
        done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=100, check=True, env=environment)
    peak_mib, code = map(int, done.stdout.split())
    assert code == 1
    assert peak_mib < 400  # 300 of them are the libraries
    assert "the reply has more than 1,144,576 bytes" in done.stderr


def test_concurrency_is_bounded(tmp_path: Path) -> None:
    """No more calls are under way than asked for, and as many as asked for."""
    store = store_of(tmp_path / "s.duckdb", games=4, turns=6)
    with stub_server("--latency-ms", "30") as url:
        run(ask_model(url, concurrency=5), store)
        assert counted(url)["peak"] == 5


def test_requests_a_minute_are_kept(tmp_path: Path) -> None:
    """Ten requests at 600 a minute take nine tenths of a second."""
    store = store_of(tmp_path / "s.duckdb", turns=10)
    with stub_server() as url:
        report = run(ask_model(url, requests_per_minute=600), store)

    assert report.seconds >= 0.9
    assert report.requests == 10


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, a date that has passed; nonsense counts as nothing said."""
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date_is_the_time_until_then() -> None:
    """HTTP dates have whole seconds."""
    found = retry_after_s({"retry-after": formatdate(time() + 30, usegmt=True)})

    assert found is not None
    assert 28 <= found <= 30


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gpt-4o", "names no provider: write provider/model"),
        ("openai/gpt-4o", "set OPENAI_API_KEY"),
        ("nobody/x", "--model nobody/x: "),
    ],
)
def test_a_model_that_cannot_be_asked_is_a_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, message: str) -> None:
    """One line that says what is missing, before anything is asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    store = store_of(tmp_path / "s.duckdb", turns=1)

    with pytest.raises(UsageError, match=message):
        run(ask_model(None, model=model), store)
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM judge_runs").fetchone() == (0,)
