"""The one way to ask a model: text and forms, tools, what is kept of every call, and what is not paid twice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from providers.asker import Asker, JobTerms, JournalEntry, Reply, Request
from providers.cache import ReplyCache
from providers.faults import HopelessError
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from schemas.chat.messages import Message, Tool
from schemas.common.errors import StoreError, UsageError
from schemas.store import journal as journal_module
from schemas.store.journal import Journal
from tests.judges.judged_games import counted
from tests.servers.stub_server import stub_server

LOOK = Tool("look", "Look at a cell.", {"type": "object", "properties": {"cell": {"type": "string"}}})


class Verdict(BaseModel):
    """An answer with its reason."""

    reason: str
    answer: Literal["yes", "no"]


class Sheet(BaseModel):
    """The answers to all questions."""

    Q1: Verdict
    Q2: Verdict


def numbered_prompt(number: int) -> list[Message]:
    """A prompt that is like no other."""
    return [{"role": "system", "content": "You play."}, {"role": "user", "content": f"Position {number}."}]


def settings(url: str, **changes: object) -> ModelSettings:
    """An impatient way to ask the server's model."""
    given: dict[str, object] = {"model": "local/fake", "base_url": url, "timeout_s": 5.0, "tries": 3, "patience_s": 3.0}
    return ModelSettings(**(given | changes))  # type: ignore[arg-type]


def ask_all(model: ModelSettings, requests: Sequence[Request], terms: JobTerms | None = None, price: Price | None = None) -> list[Reply]:
    """All replies, in the order of the requests."""

    async def asked() -> list[Reply]:
        async with Asker([model], price, terms) as asker:
            return await asyncio.gather(*(asker.ask(request) for request in requests))

    return asyncio.run(asked())


def test_text_comes_back_with_all_that_is_kept_of_a_call() -> None:
    """One row of `calls`: who asked about what, the reply word for word, tokens, cost, time, attempts."""
    request = Request(messages=numbered_prompt(1), purpose="player", run="run-1", episode_id="game-1", turn=3, agent="D1")
    with stub_server("--latency-ms", "20") as url:
        (reply,) = ask_all(settings(url), [request], price=Price(3, 15))

    call = reply.call
    assert (reply.answered, reply.text, call.reply, call.finish_reason) == (True, "Action: C", "Action: C", "stop")
    assert (call.purpose, call.run, call.episode_id, call.turn, call.agent, call.model) == (
        "player",
        "run-1",
        "game-1",
        3,
        "D1",
        "local/fake",
    )
    assert (call.tokens_in, call.tokens_out, call.tokens_cached, call.tokens_reasoning) == (1000, 100, 0, 0)
    assert call.cost == pytest.approx((1000 * 3 + 100 * 15) / 1e6)
    assert 0.02 <= (call.latency_s or 0.0) < 5
    assert (call.attempts, call.status, call.error) == (1, "answered", None)


def test_a_form_is_filled_in() -> None:
    """The reply is the JSON that the model wrote, and the form is its content."""
    with stub_server() as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1), form=Sheet)])

    assert isinstance(reply.filled, Sheet)
    assert reply.filled == Sheet.model_validate_json(reply.call.reply or "")
    assert reply.call.read_as == "as asked"


def test_a_tool_is_called_and_its_result_answered() -> None:
    """The reply holds the call; the chat goes on with it and the result, and ends in text."""

    async def talk(url: str) -> tuple[Reply, Reply]:
        async with Asker([settings(url)]) as asker:
            first = await asker.ask(Request(messages=numbered_prompt(1), tools=[LOOK]))
            assert first.completion is not None
            (call,) = first.completion.tool_calls
            result: Message = {"role": "tool", "content": "nothing there", "tool_call_id": call.id}
            return first, await asker.ask(Request(messages=[*numbered_prompt(1), first.completion.message(), result], tools=[LOOK]))

    with stub_server() as url:
        first, second = asyncio.run(talk(url))
        sent = counted(url)["last_bodies"][-1]["messages"]

    assert first.completion is not None
    assert [(call.name, call.arguments) for call in first.completion.tool_calls] == [("look", "{}")]
    assert second.text == "Action: C"
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"]


@pytest.mark.parametrize("fault", ["429", "429-after", "500", "hang", "cut", "empty", "html", "null", "no-choices"])
def test_a_fault_that_passes_costs_one_more_request(fault: str) -> None:
    """Every call is hit once and answered on its second request."""
    with stub_server("--fault", fault) as url:
        replies = ask_all(settings(url, timeout_s=3.0), [Request(messages=numbered_prompt(n)) for n in range(6)])
        server = counted(url)

    assert [(reply.answered, reply.call.attempts) for reply in replies] == [(True, 2)] * 6
    assert server["requests"] == 12


def test_a_fault_that_stays_is_a_reply_that_says_so() -> None:
    """Failed, with the reason, and no text is made up; the others are answered."""
    with stub_server("--fault", "500:0.3:99") as url:
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(12)])

    failed = [reply for reply in replies if not reply.answered]
    assert 0 < len(failed) < 12
    assert {(reply.call.status, reply.text, reply.call.reply, reply.call.attempts) for reply in failed} == {("failed", "", None, 3)}
    assert all("HTTP 500" in (reply.call.error or "") for reply in failed)


def test_half_a_surrogate_pair_does_not_cost_the_reply(tmp_path: Path) -> None:
    """Models break emoji apart; what no table can hold becomes U+FFFD, as everywhere, in the reply and in the journal."""
    journal = journal_at(tmp_path / "j.jsonl")

    async def asked(url: str) -> Reply:
        async with Asker([settings(url)], terms=JobTerms(journal=journal)) as asker:
            reply = await asker.ask(Request(messages=numbered_prompt(1), key="1"))
        await journal.close()
        return reply

    with stub_server("--fault", "surrogate") as url:
        assert asyncio.run(asked(url)).text == "fine \N{REPLACEMENT CHARACTER} done"


def test_the_budget_holds_for_text_too() -> None:
    """What it does not allow is not asked, and is told apart from what failed."""
    price, one = Price(3, 15), (1000 * 3 + 100 * 15) / 1e6
    with stub_server() as url:
        terms = JobTerms(budget=Budget(5.5 * one), concurrency=1)
        replies = ask_all(settings(url, max_tokens=100), [Request(messages=numbered_prompt(n)) for n in range(9)], terms, price)
        assert counted(url)["requests"] == 5
    assert [reply.call.status for reply in replies] == ["answered"] * 5 + ["unasked"] * 4


def test_replies_in_a_cache_are_not_paid_again_and_samples_are_told_apart(tmp_path: Path) -> None:
    """The same content once, two that ask at the same moment included; another sample is another reply."""
    cache = ReplyCache(tmp_path)
    with stub_server("--latency-ms", "20") as url:
        twice = ask_all(settings(url), [Request(messages=numbered_prompt(1)), Request(messages=numbered_prompt(1))], JobTerms(cache=cache))
        again = ask_all(settings(url), [Request(messages=numbered_prompt(1), sample=n) for n in (1, 2)], JobTerms(cache=cache))
        assert counted(url)["requests"] == 2
    cache.close()

    assert [reply.source for reply in twice] == ["model", "cache"]
    assert [(reply.source, reply.call.attempts, reply.text) for reply in again] == [("cache", 0, "Action: C"), ("model", 1, "Action: C")]


def journal_at(path: Path) -> Journal[dict[str, str], JournalEntry]:
    """A journal of a job."""
    return Journal(path, {"job": "test"}, JournalEntry)


def test_what_a_journal_holds_is_not_asked_again(tmp_path: Path) -> None:
    """Under the same key the same reply comes back, failed ones too; another prompt under it is asked."""

    async def asked(url: str, numbers: Sequence[int]) -> list[Reply]:
        journal = journal_at(tmp_path / "j.jsonl")
        async with Asker([settings(url)], terms=JobTerms(journal=journal)) as asker:
            requests = [Request(messages=numbered_prompt(n), key=f"call {place}", tools=[LOOK]) for place, n in enumerate(numbers)]
            replies = list(await asyncio.gather(*(asker.ask(request) for request in requests)))
        await journal.close()
        return replies

    with stub_server("--fault", "500:0.3:99") as url:
        first = asyncio.run(asked(url, range(12)))
        sent = counted(url)["requests"]
        second = asyncio.run(asked(url, [*range(11), 99]))
        assert counted(url)["requests"] == sent + second[-1].call.attempts

    assert {reply.call.status for reply in first} == {"answered", "failed"}
    assert [reply.call for reply in second[:-1]] == [reply.call for reply in first[:-1]]
    assert [reply.completion for reply in second[:-1]] == [reply.completion for reply in first[:-1]]
    assert {reply.source for reply in second[:-1]} == {"journal"}
    assert second[-1].source == "model"


KILLED = """
import asyncio, sys
from pathlib import Path
from providers.asker import Asker, JobTerms, Request
from tests.providers.test_asker import journal_at, numbered_prompt, settings

async def play():
    journal = journal_at(Path(sys.argv[2]))
    async with Asker([settings(sys.argv[1])], terms=JobTerms(journal=journal, concurrency=16)) as asker:
        await asyncio.gather(*(asker.ask(Request(messages=numbered_prompt(n), key=str(n))) for n in range(200)))
    await journal.close()

asyncio.run(play())
"""


@pytest.mark.long
def test_no_reply_that_had_arrived_is_paid_again_after_a_kill(tmp_path: Path) -> None:
    """SIGKILL in the middle of 200 calls: only those in flight (16) can be asked twice, and the journal goes on where it was cut."""
    path = tmp_path / "j.jsonl"
    with stub_server("--latency-ms", "20") as url:
        process = subprocess.Popen([sys.executable, "-c", KILLED, url, str(path)])
        while counted(url)["answers"] < 80:
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert counted(url)["answers"] < 190
        with path.open("ab") as file:
            file.write(b'["199", null, ["cut')
        subprocess.run([sys.executable, "-c", KILLED, url, str(path)], check=True)
        assert 200 <= counted(url)["requests"] <= 216

    journal = journal_at(path)
    assert sorted(int(entry.key or -1) for entry in journal.before) == list(range(200))
    with pytest.raises(UsageError, match="another process is writing the journal"):
        journal_at(path)


def test_replies_that_wait_together_are_forced_to_disk_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred lines at once take a few waits for the disk, not two hundred, and each is on disk when its writer goes on."""
    waits: list[int] = []
    forced = journal_module._force

    def counting(file: int) -> None:
        waits.append(file)
        forced(file)

    monkeypatch.setattr(journal_module, "_force", counting)
    path = tmp_path / "j.jsonl"

    async def write() -> None:
        journal: Journal[dict[str, str], tuple[int, str]] = Journal(path, {"job": "x"}, tuple[int, str])

        async def one(number: int) -> None:
            await journal.write((number, "text"))
            assert f'[{number},"text"]'.encode() in path.read_bytes()

        await asyncio.gather(*(one(number) for number in range(200)))
        await journal.close()

    asyncio.run(write())
    assert len(waits) <= 5


FULL = """
import asyncio, resource, sys
from pathlib import Path
from schemas.store.journal import Journal
from schemas.common.errors import StoreError

async def write():
    journal = Journal(Path(sys.argv[1]), {}, str)
    await journal.write("a" * 100)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
    try:
        await journal.write("b" * 100)
    except StoreError as error:
        print(error)
    await journal.close()

asyncio.run(write())
"""


def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path: Path) -> None:
    """Whoever waits for the line gets one error; what was written before stays readable."""
    path = tmp_path / "j.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], check=True, capture_output=True, text=True)

    assert done.stdout.startswith(f"journal {path} cannot be written: ")
    assert path.read_bytes() == b'{}\n"' + b"a" * 100 + b'"\n'


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http://", "http://[::1/v1"])
def test_an_address_that_is_none_is_wrong_use(url: str) -> None:
    """Before anything is sent, with an example of one."""
    with pytest.raises(UsageError, match=r"is no address.*http://localhost:8000/v1"):
        ask_all(settings(url), [Request(messages=numbered_prompt(1))])


def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Gets the pauses, in seconds, that coroutines of this process make from now on."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(delay: float, result: object = None) -> object:
        if delay > 0:
            pauses.append(delay)
        return await sleep(delay, result)

    monkeypatch.setattr(asyncio, "sleep", noted)
    return pauses


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_closed_port_is_told_at_once(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the address, as what it is, without waiting for a server that is not there."""
    pauses = paused(monkeypatch)
    with pytest.raises(HopelessError, match=rf"http://{host}:9/v1 cannot be reached: .* \(connection refused\)"):
        ask_all(settings(f"http://{host}:9/v1", tries=6), [Request(messages=numbered_prompt(n)) for n in range(8)])
    assert sum(pauses) < 2


def test_a_host_that_does_not_exist_is_told() -> None:
    """The name is at fault, not the server."""
    with pytest.raises(HopelessError, match=r"cannot be reached: .*nowhere\.invalid"):
        ask_all(settings("http://nowhere.invalid:8000/v1", tries=2), [Request(messages=numbered_prompt(1))])


@pytest.mark.long
@pytest.mark.parametrize(("concurrency", "tries", "most"), [(1, 1, 10), (16, 6, 40)])
def test_a_server_that_fails_at_everything_is_given_up(concurrency: int, tries: int, most: int) -> None:
    """Not every one of 200 calls has to find out for itself, whatever their number under way."""
    with stub_server("--fault", "500:1:9999") as url:
        requests = [Request(messages=numbered_prompt(n)) for n in range(200)]
        with pytest.raises(HopelessError, match=r"fails at everything, 8 calls in a row \(HTTP 500.*start the same command again"):
            ask_all(settings(url, tries=tries), requests, JobTerms(concurrency=concurrency))
        assert counted(url)["requests"] < most


def test_a_server_that_is_well_again_loses_no_call() -> None:
    """Each of forty calls fails once, all at the same time: a dozen failures in a row slow the run down, and stop nothing."""
    with stub_server("--fault", "500") as url:
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(40)], JobTerms(concurrency=40))
    assert all(reply.answered for reply in replies)


def test_a_mistake_in_the_program_is_no_fault_of_the_network() -> None:
    """It surfaces as what it is, at the first call, instead of being retried and stored as a failed one."""
    with stub_server() as url:
        with pytest.raises(TypeError):
            ask_all(settings(url, temperature=object()), [Request(messages=numbered_prompt(1))])
        assert counted(url)["requests"] == 0


def test_a_server_that_fails_for_good_is_left_out() -> None:
    """The other one answers all; where none is left, that is said."""

    async def asked(urls: Sequence[str]) -> list[Reply]:
        async with Asker([settings(url) for url in urls]) as asker:
            return await asyncio.gather(*(asker.ask(Request(messages=numbered_prompt(n))) for n in range(8)))

    with stub_server() as good, stub_server("--fault", "401:1:99") as bad:
        assert all(reply.answered for reply in asyncio.run(asked([good, bad])))
        with pytest.raises(HopelessError, match="refuses the API key"):
            asyncio.run(asked([bad, bad]))


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    """Before anything is asked."""
    (tmp_path / "notes.txt").write_text("no database, but long enough to be looked at " * 10)
    with pytest.raises(StoreError, match="name another file or folder with --cache"):
        ReplyCache(tmp_path / "notes.txt")


def test_a_line_is_waited_for_unless_it_need_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk is busy, a line that need not be forced goes on at once; a journal that is gone is closed all the same."""
    disk = threading.Event()
    monkeypatch.setattr(journal_module, "_force", lambda _: disk.wait(20))
    path = tmp_path / "j.jsonl"

    async def write() -> None:
        disk.set()
        journal: Journal[dict[str, str], str] = Journal(path, {"job": "x"}, str)
        disk.clear()
        await asyncio.wait_for(journal.write("soon", forced=False), 5)
        kept = asyncio.create_task(journal.write("now"))
        done, _ = await asyncio.wait([kept], timeout=0.05)
        assert not done
        disk.set()
        await asyncio.wait_for(kept, 5)
        path.unlink()
        await journal.close(delete=True)

    asyncio.run(write())
