"""Servers of the user's own: what doctor measures, what commands make of it, and what becomes of calls that are too many or too long."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analytics.query import query
from providers.profile import Profile, write
from schemas.store.store import Store
from tests.cotrace.test_model_options import whole
from tests.judges.judged_games import store_of
from tests.providers.test_forms import replying, text
from tests.servers.llama_server import LlamaServer, llama_server
from tests.servers.stub_server import stub_server


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profiles of these tests only."""
    monkeypatch.setenv("COTRACE_CONFIG", str(tmp_path / "config"))


def called(*arguments: str) -> Result:
    """The command as it is installed."""
    return CliRunner().invoke(whole, list(arguments), catch_exceptions=False)


def judge(store: Store, url: str, *options: str, model: str = "openai/little") -> Result:
    """`cotrace judge` with one rubric."""
    base = ("judge", "--rubric", "pragmatic_sufficiency", "--model", model, "--base-url", url, "--store", str(store.path))
    return called(*base, *options)


def profile(tmp_path: Path) -> dict[str, object]:
    """The one that is stored."""
    [path] = (tmp_path / "config" / "servers").glob("*.json")
    found: dict[str, object] = json.loads(path.read_text("utf-8"))
    return found


def test_doctor_measures_a_server_and_runs_use_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Context, slots, speed, the mode that works and the time of a rubric; then judge asks in that mode, with so many calls at once.

    A dry run tells the same time as the doctor; one of a reader has its own.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-test")
    store, server = store_of(tmp_path / "s.duckdb", turns=6), LlamaServer(slots=3)
    with llama_server(server) as url:
        done = called("doctor", "--model", "openai/little", "--base-url", url, "--store", str(store.path))
        found, asked = profile(tmp_path), len(server.requests)
        server.peak = 0
        planned = judge(store, url, "--dry-run")
        reading = called("claims", "--reader", "llm-only:openai/little", "--base-url", url, "--store", str(store.path), "--dry-run")
        judged = judge(store, url)

    assert (done.exit_code, judged.exit_code) == (0, 0), done.output + judged.output
    assert (found["context"], found["slots"], found["modes"], found["logprobs"]) == (8192, 3, ["json_schema"], True)
    assert isinstance(found["reply_speed"], float)
    assert found["reply_speed"] > 10
    assert "sk-secret" not in json.dumps(found)
    assert "pragmatic_sufficiency  6 calls, about" in done.output
    [(takes, planned_to_take)] = zip(
        re.findall(r"pragmatic_sufficiency 6 calls, about [^:]* tokens: about (.*?) with all slots", " ".join(done.output.split())),
        re.findall(r"6 calls to make.*, about (.*) at the speeds that cotrace doctor has measured", planned.output),
        strict=True,
    )
    assert takes == planned_to_take
    assert "at the speeds that cotrace doctor has measured" in reading.output
    bodies = server.requests[asked:]
    assert {body["response_format"]["type"] for body in bodies} == {"json_schema"}
    assert {body["max_tokens"] for body in bodies} == {160 + 6 * 60}
    assert server.peak <= 3


@pytest.mark.long
def test_an_option_counts_before_the_profile(tmp_path: Path) -> None:
    """Mode, longest reply and concurrency of the command line stay."""
    store, server = store_of(tmp_path / "s.duckdb", turns=6), LlamaServer(slots=2)
    with llama_server(server) as url:
        called("doctor", "--model", "openai/little", "--base-url", url)
        asked, server.peak = len(server.requests), 0
        judge(store, url, "--mode", "json_schema", "--max-tokens", "333", "--concurrency", "6")
    assert {body["max_tokens"] for body in server.requests[asked:]} == {333}
    assert server.peak > 2


@pytest.mark.long
def test_a_server_that_nobody_measured_states_its_slots(tmp_path: Path) -> None:
    """No more calls at once than it works on, so that none waits in its queue until it times out."""
    store, server = store_of(tmp_path / "s.duckdb", turns=8), LlamaServer(slots=2)
    with llama_server(server) as url:
        done = judge(store, url, "--mode", "json_schema")
    assert done.exit_code == 0, done.output
    assert server.peak <= 2


def test_a_prompt_longer_than_the_context_is_not_sent(tmp_path: Path) -> None:
    """A failed unit with its size, the limit and the fix; no call."""
    store, server = store_of(tmp_path / "s.duckdb", turns=1), LlamaServer(context=300)
    with llama_server(server) as url:
        done = judge(store, url, "--mode", "json_schema", "--max-tokens", "100")
    assert done.exit_code == 1
    assert server.requests == []
    [reason] = set(query(store, "SELECT reason FROM verdicts WHERE status = 'failed'").get_column("reason"))
    assert "the server takes 300 for prompt and reply" in reason
    assert "--max-tokens" in reason


@pytest.mark.long
def test_timeouts_behind_a_queue_lower_the_number_of_calls_and_are_counted(tmp_path: Path) -> None:
    """16 at once at a server of one slot: some time out; then fewer are sent at once, all are answered, and the summary says it."""
    store, server = store_of(tmp_path / "s.duckdb", turns=12), LlamaServer(slots=1, speed=200)
    with llama_server(server) as url:
        done = judge(store, url, "--mode", "json_schema", "--concurrency", "12", "--timeout", "0.5")
    assert done.exit_code == 0, done.output
    assert "timed out: see --timeout" in done.output
    assert query(store, "SELECT count(*) FROM verdicts WHERE status <> 'answered'").item() == 0
    assert query(store, "SELECT max(latency_s) FROM calls WHERE attempts > 1").item() > 0.5


def test_a_local_server_has_no_price_by_its_alias(tmp_path: Path) -> None:
    """Not that of OpenAI's model of the same name; a price file, and what the server states, count."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/gpt-4o-mini: {input: 0, output: 0}\n")
    with stub_server() as url:
        done = judge(store, url, model="openai/gpt-4o-mini")
        assert "cost not known" in done.output
        assert query(store, "SELECT count(*) FROM calls WHERE cost IS NOT NULL").item() == 0
        planned = judge(store, url, "--dry-run", "--repeats", "2", model="openai/gpt-4o-mini")
        assert "no price known" in planned.output
        free = judge(store, url, "--prices", str(prices), "--repeats", "2", model="openai/gpt-4o-mini")
        assert "0.0000 USD" in free.output


def test_a_doctor_that_reaches_no_server_says_so() -> None:
    """One line, and exit code 1."""
    done = called("doctor", "--model", "openai/little", "--base-url", "http://127.0.0.1:9/v1")
    assert done.exit_code == 1
    assert "cannot be reached" in done.output


@pytest.mark.long
def test_the_demo_has_a_model_as_judge_beside_the_engine(tmp_path: Path) -> None:
    """Its story, how far both agree, and what the model took, the same when it is started again; a local server's cost is not known."""
    server = LlamaServer(slots=2)
    command = ("demo", "--dir", str(tmp_path), "--games", "1", "--no-serve", "--model", "openai/little", "--judged", "4")
    with llama_server(server) as url:
        done, again = (called(*command, "--base-url", url) for _ in range(2))
    took = [re.findall(r"([\d.]+) s of a call a verdict", one.output) for one in (done, again)]
    assert took[0] == took[1] != []
    assert done.exit_code == 0, done.output
    agreed = re.search(
        r"agrees with the engine on \d+ of \d+ answers that both gave, and with what was planted on (\d+) of (\d+)", done.output
    )
    assert agreed is not None
    assert 0 < int(agreed[1]) <= int(agreed[2])
    both, usual = re.findall(r"of (\d+) answers that both gave.* would agree with the engine on (\d+)", done.output)[0]
    assert int(usual) < int(both)  # turns with different answers are judged
    assert "cost not known" in done.output
    assert 4 <= len(server.requests) <= 8
    assert "5. What was found" in done.output


@pytest.mark.long
def test_a_reader_whose_replies_are_all_unreadable_says_so(tmp_path: Path) -> None:
    """The games are there and the texts were asked about, so nothing was used in a wrong way."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with replying(text("I like blocks.")) as (url, _):
        done = called("claims", "--reader", "llm-only:openai/little", "--base-url", url, "--store", str(store.path))
    assert done.exit_code == 1
    assert "no text was read by llm-only:openai/little" in done.output
    assert "ingest games first" not in done.output


@pytest.mark.long
def test_a_reader_behind_a_slow_server_is_told_before_it_begins(tmp_path: Path) -> None:
    """How long it takes by what doctor measured, and what makes it shorter."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with replying(text('{"claims": []}')) as (url, _):
        write(Profile(model="openai/little", base_url=url, context=8192, slots=2, prompt_speed=50, reply_speed=2, modes=["json_schema"]))
        done = called("claims", "--reader", "llm-only:openai/little", "--base-url", url, "--store", str(store.path))
    assert re.search(r"\d+ texts, \d+ calls to make.*about \d+ min.*--where selects fewer.*rows by", done.output, re.DOTALL), done.output
