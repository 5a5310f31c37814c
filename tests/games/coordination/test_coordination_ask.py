"""Asking a model the CoordinationQA questions: the published prompt, one line an answer, nothing asked twice, faults kept apart."""

from __future__ import annotations

import csv
import fcntl
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analytics.query import query
from cotrace.cli import cli
from games.coordination.qa.ask import AskRequest, Put, ask_questions
from games.coordination.qa.questions import PUBLISHED_TYPES, QUESTION_FILE
from ingest.files.run import ingest_paths
from providers.faults import HopelessError
from providers.provider import ModelSettings
from schemas.common.errors import UsageError
from schemas.store.store import Store


class _Server(ThreadingHTTPServer):
    """Answers every question with option C; refuses with `status` while that is set, for questions that contain `victim`."""

    status: int | None = None
    victim = ""
    bodies: list[Any]
    keys: set[str | None]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.keys.add(self.headers["authorization"])
        refused = self.server.status is not None and self.server.victim in body["messages"][-1]["content"]
        message = {"role": "assistant", "content": "Explanation: so.\nAction: C"}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        reply: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
        reply["usage"] = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        content = json.dumps({"error": {"message": "no"}} if refused else reply).encode()
        self.send_response(self.server.status or 500 if refused else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server wants
        """Be quiet."""


@pytest.fixture
def server() -> Iterator[_Server]:
    """A chat server on a free port."""
    found = _Server(("127.0.0.1", 0), _Handler)
    found.bodies, found.keys = [], set()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def question_file(path: Path) -> Path:
    """Two scenarios of three questions."""
    rows = []
    for scenario in range(2):
        cells = {"Game": "CollabGames", "Game Description": "A killer walks about."}
        for kind in PUBLISHED_TYPES:
            text = f"Scenario {scenario}, {kind}.\nAvailable Actions:\nA. Go.\nB. Run.\nC. Stay."
            cells |= {f"{kind} Question": text, f"{kind} Answer": "", f"{kind} Answer Ordinal": "C", f"{kind} Directive": "Choose."}
        rows.append(cells)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def request_(server: _Server, tmp_path: Path) -> AskRequest:
    """Two scenarios, two trials."""
    settings = ModelSettings(model="local/some-model", base_url=f"http://127.0.0.1:{server.server_port}/v1", temperature=0.6, tries=2)
    return AskRequest(
        questions=question_file(tmp_path / QUESTION_FILE), out=tmp_path / "answers", settings=settings, trials=2, concurrency=4
    )


def test_answers_are_asked_once_and_read_back(request_: AskRequest, server: _Server, tmp_path: Path) -> None:
    """Twelve questions with the published messages; the second call asks nothing; ingest scores them."""
    report = ask_questions(request_)
    assert (report.asked, report.stored, report.failed) == (12, 0, 0)
    assert ask_questions(request_)[:3] == (0, 12, 0)
    assert len(server.bodies) == 12
    first = next(body for body in server.bodies if "Scenario 0, EC" in body["messages"][-1]["content"])
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "user"]
    assert (first["model"], first["temperature"]) == ("some-model", 0.6)
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([request_.out], store, workers=1)
    found = query(store, "select model, count(*) as n, count(distinct seed) as trials from episodes group by all").rows()
    assert found == [("some-model", 12, 2)]
    assert query(store, "select distinct stop_reason from episodes").rows() == [("bare_letter",)]
    calls = query(store, "select purpose, agent, count(*) as n, count(distinct episode_id) as answers from calls group by all").rows()
    assert calls == [("coordqa", "respondent", 12, 12)]


def test_scripts_answer_as_anybody_who_takes_the_seat(request_: AskRequest, tmp_path: Path) -> None:
    """They are put what the messages hold, and the key, which graded ones alone use; the same question and trial get the same answer."""
    for name in ("first", "random"):
        request = replace(request_, respondent=f"script:{name}")
        assert ask_questions(request)[:3] == (12, 0, 0)
        assert ask_questions(request)[:3] == (0, 12, 0)
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([request_.out], store, workers=1)
    found = dict(query(store, "select model, avg(score) as accuracy from episodes group by all").rows())
    assert found["script:first"] == 0
    assert 0 < found["script:random"] < 1
    assert set(Put._fields) == {"directive", "description", "text", "trial", "right"}


def test_failed_requests_are_told_apart_and_asked_again(request_: AskRequest, server: _Server) -> None:
    """A question on which the server fails is a failed call, and only it is asked the next time."""
    server.status, server.victim = 400, "Scenario 1, JP"
    assert ask_questions(request_)[:3] == (12, 0, 2)
    server.status = None
    assert ask_questions(request_)[:3] == (2, 10, 0)


def test_a_budget_ends_it_and_a_higher_one_goes_on(request_: AskRequest, tmp_path: Path) -> None:
    """What earlier starts have paid counts; what waits for money is no failure."""
    (tmp_path / "prices.yaml").write_text("local/some-model: {input: 1000, output: 1000}\n", encoding="utf-8")
    settings = replace(request_.settings, max_tokens=20)
    poor = replace(request_, settings=settings, prices=tmp_path / "prices.yaml", max_cost=0.15)
    first = ask_questions(poor)
    paid = sum(json.loads(line)["call"]["cost"] for line in first.path.read_text(encoding="utf-8").splitlines())
    assert first.asked + first.unasked == 12
    assert 0 < first.unasked < 12
    assert paid == pytest.approx(0.02 * first.asked)
    assert paid <= 0.15
    assert ask_questions(poor)[:2] == (0, first.asked)
    assert ask_questions(replace(poor, max_cost=9.0))[:3] == (first.unasked, first.asked, 0)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["coordqa", "{file}", "--model", "local/m", "--trials", "1"], id="questions"),
        pytest.param(["asympuzl", "--solo", "--player", "A=local/m", "--games", "1", "--size", "2"], id="seat"),
    ],
)
def test_a_server_of_ones_own_is_sent_the_key_that_is_named(server: _Server, tmp_path: Path, words: list[str]) -> None:
    """By `--key-env`, wherever models play; docs/providers.md says so."""
    file = str(question_file(tmp_path / QUESTION_FILE))
    where = ["--base-url", f"http://127.0.0.1:{server.server_port}/v1", "--key-env", "MY_KEY", "--out", str(tmp_path / "out")]
    CliRunner().invoke(cli, ["play", *(word.format(file=file) for word in words), *where], env={"MY_KEY": "sesame"}, catch_exceptions=False)
    assert server.keys == {"Bearer sesame"}


def test_an_interrupted_run_goes_on(request_: AskRequest) -> None:
    """A line that was cut is asked again; the others are kept."""
    path = ask_questions(request_).path
    path.write_bytes(path.read_bytes()[:-20])
    assert ask_questions(request_)[:3] == (1, 11, 0)


def test_a_wrong_key_stops_the_run(request_: AskRequest, server: _Server) -> None:
    """With a message that says what to check."""
    server.status = 401
    with pytest.raises(HopelessError, match="--model"):
        ask_questions(request_)


def test_two_processes_do_not_ask_the_same(request_: AskRequest, server: _Server) -> None:
    """The second one is told of the first; both would pay for every question, and each answer would stand twice."""
    request_.out.mkdir()
    with (request_.out / "local_some-model.jsonl").open("ab") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match=r"another process is writing answers to .*local_some-model\.jsonl"):
            ask_questions(request_)
    assert server.bodies == []
    assert ask_questions(request_)[:3] == (12, 0, 0)


def test_answers_cost_what_the_price_list_says(request_: AskRequest, tmp_path: Path) -> None:
    """As those of all who ask a model."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("local/*: {input: 1000000, output: 0}\n")
    path = ask_questions(replace(request_, prices=prices)).path
    calls = [json.loads(line)["call"] for line in path.read_text().splitlines()]
    assert [call["cost"] for call in calls] == [10] * 12
