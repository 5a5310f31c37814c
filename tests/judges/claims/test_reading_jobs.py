"""Having a model read: nothing is paid twice, whatever ends the job, and a budget holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from aiohttp import web

from judges.claims.extraction import Example
from judges.claims.job import ReadingReport, read_texts
from judges.claims.texts import PromptParts, ReadingRequest, plan_reading
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.judges.judged_games import interrupt_with_lines, mark, store_of
from tests.places import ROOT
from tests.servers.dialects import completion
from tests.servers.serving import application, json_reply, served
from tests.servers.simulated_reader import SimulatedReader, simulated_reader

TURNS = 8
TEXTS = 7 * TURNS
"""Thoughts and messages a turn, one of them superseded; turns."""
CALL_COST = (1000 * 3.0 + 100 * 15.0) / 1e6
"""The server bills 1,000 and 100 tokens a call."""
READ = """
import sys
from judges.claims.job import read_texts
from judges.claims.texts import ReadingRequest
from providers.provider import ModelSettings
from schemas.store.store import Store
settings = ModelSettings(model="local/stub", base_url=sys.argv[2], max_tokens=100)
read_texts(ReadingRequest(settings=settings, concurrency=4), Store(sys.argv[1]))
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A game whose texts are all different."""
    return store_of(tmp_path / "s.duckdb", turns=TURNS)


@pytest.fixture
def url(store: Store) -> Iterator[str]:
    """A model that takes its time."""
    with simulated_reader(SimulatedReader(store=store.path, latency_s=0.03)) as address:
        yield address


def read(store: Store, url: str, **options: Any) -> ReadingReport:
    """Have the model read all that it has not read."""
    return read_texts(ReadingRequest(settings=ModelSettings(model="local/stub", base_url=url, max_tokens=100), **options), store)


def asked(url: str) -> int:
    """Requests that the server has had."""
    return int(httpx.get(f"{url.removesuffix('/v1')}/stats").json()["requests"])


def rows(store: Store) -> tuple[int, int, int]:
    """Texts with claims, rows that say so, and calls on record."""
    with store.reading() as connection:
        found = connection.execute(
            "SELECT count(DISTINCT (episode_id, turn, seq)), count(*) FILTER (kind = 'read'), (SELECT count(*) FROM calls) FROM claims"
        ).fetchall()
    return found[0]


@pytest.mark.long
def test_a_killed_job_goes_on_without_asking_twice(store: Store, url: str) -> None:
    """SIGKILL in the middle: only what was in flight (4) is asked again; every text and every call stands once."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", READ, str(store.path), url], cwd=ROOT, env=environment)
    deadline = time.monotonic() + 60
    while asked(url) < TEXTS // 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = read(store, url)
    assert again.read + again.read_before == TEXTS
    assert again.requests < TEXTS - TEXTS // 3 + 8
    assert asked(url) <= TEXTS + 4
    assert rows(store) == (TEXTS, TEXTS, TEXTS)
    assert read(store, url).read == 0
    assert asked(url) <= TEXTS + 4


def test_a_budget_holds_and_the_rest_is_read_later(store: Store, url: str, tmp_path: Path) -> None:
    """What no money is left for is counted, and asked by the next start; the plan told beforehand is of that order."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("local/*: {input: 3, output: 15}\n")
    request = ReadingRequest(settings=ModelSettings(model="local/stub", base_url=url, max_tokens=100), prices=prices)
    planned = plan_reading(request, store)
    assert (planned.texts, planned.calls, planned.read_before) == (TEXTS, TEXTS, 0)
    assert planned.cost is not None
    first = read(store, url, prices=prices, max_cost=20.5 * CALL_COST)
    assert first.cost is not None
    assert first.cost <= 20.5 * CALL_COST
    assert (first.read > 0, first.read + first.not_asked) == (True, TEXTS)
    second = read(store, url, prices=prices)
    assert (second.read_before, second.read) == (first.read, first.not_asked)
    assert rows(store) == (TEXTS, TEXTS, TEXTS)


@pytest.mark.long
def test_what_a_cache_holds_is_not_paid_by_another_store(store: Store, url: str, tmp_path: Path) -> None:
    """The same texts in another store, the same prompt: no request."""
    cache = tmp_path / "answers"
    cache.mkdir()
    read(store, url, cache=cache)
    before = asked(url)
    other = store_of(tmp_path / "other.duckdb", turns=TURNS)
    assert read(other, url, cache=cache).read == TEXTS
    assert asked(url) == before
    assert rows(other)[:2] == (TEXTS, TEXTS)


def test_another_prompt_reads_anew_and_takes_the_place_of_the_first(store: Store, url: str) -> None:
    """Claims are kept by text and prompt: other instructions or examples are another reading. Progress begins with 0 of all."""
    seen: list[tuple[int, int]] = []
    settings = ModelSettings(model="local/stub", base_url=url, max_tokens=100)
    read_texts(ReadingRequest(settings=settings), store, lambda *now: seen.append(now))
    assert seen == [(done, TEXTS) for done in range(TEXTS + 1)]
    prompt = PromptParts({"craft": "Read well."}, {"craft": [Example(frame="", text="Hello.", claims=[])]})
    again = read(store, url, prompt=prompt)
    assert (again.read_before, again.read) == (0, TEXTS)
    assert read(store, url, prompt=prompt).read_before == TEXTS
    assert rows(store)[:2] == (TEXTS, TEXTS)


def test_what_was_read_before_an_interruption_is_in_the_store(store: Store, url: str) -> None:
    """At once, not after the next start; which asks for the rest, and every text and call stands once."""

    def stop(done: int, _: int) -> None:
        if done == TEXTS // 2:
            signal.raise_signal(signal.SIGINT)

    request = ReadingRequest(settings=ModelSettings(model="local/stub", base_url=url, max_tokens=100), concurrency=4)
    with pytest.raises(KeyboardInterrupt):
        read_texts(request, store, stop)
    stored, had = rows(store)[0], asked(url)
    assert stored >= TEXTS // 2 - 4
    assert had - stored <= 4  # what was on its way; more may have been asked than reported: replies wait for the disk together
    assert read_texts(request, store).read_before == stored
    assert rows(store) == (TEXTS, TEXTS, TEXTS)
    assert asked(url) == had + TEXTS - stored


@pytest.mark.long
def test_replies_that_wait_for_the_disk_at_an_interruption_are_in_the_store(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many: all that wait for a slow disk share one write."""
    interrupt_with_lines(monkeypatch, Path(f"{store.path}.journal") / "claims", 30)
    with pytest.raises(KeyboardInterrupt):
        read(store, url, concurrency=4)
    stored = rows(store)[0]
    assert stored >= 30
    assert read(store, url).read_before == stored
    assert rows(store) == (TEXTS, TEXTS, TEXTS)


@pytest.mark.long
def test_a_slow_server_is_asked_sentence_by_sentence(tmp_path: Path) -> None:
    """Short replies, all that is the same before what is not; a sentence that runs away is not understood, and the text is read."""
    said = "Put a red one on my left. It is snowing. Blah? Hello"
    store = store_of(tmp_path / "s.duckdb", turns=1, texts={mark("public", "D1", 1): said})
    asked: list[dict[str, Any]] = []

    async def complete(request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        asked.append(body)
        sentence = body["messages"][-1]["content"]
        if "Blah" in sentence:
            return json_reply(completion({"role": "assistant", "content": '{"claims": [' + 400 * '"blah", '}, "length"))
        red = [{"kind": "request", "verb": "place", "color": "r"}] if "red" in sentence else []
        more = {"not_understood": "what snows"} if "snowing" in sentence else {}
        return json_reply(completion({"role": "assistant", "content": orjson.dumps({"claims": red, **more}).decode()}))

    app = application()
    app.router.add_post("/v1/chat/completions", complete)
    with served(app) as url:
        settings = ModelSettings(model="local/stub", base_url=url, reply_speed=5.0)
        request = ReadingRequest(settings=settings, where="turn = 1")
        planned, report = plan_reading(request, store), read_texts(request, store)
        again = read_texts(request, store)
    assert (planned.calls, planned.texts, report.read) == (len(asked), report.texts, report.texts)
    assert report.failed == again.requests == 0
    assert max(body["max_tokens"] for body in asked) < settings.max_tokens / 5
    assert len({body["messages"][0]["content"] for body in asked}) == 1
    with store.reading() as connection:
        found = connection.execute(
            "SELECT DISTINCT kind, words, said[start_char + 1:end_char] FROM (SELECT *, ? AS said FROM claims) "
            "WHERE words IS NOT NULL AND contains(said, words) ORDER BY 1, 2",
            [said],
        ).fetchall()
    due = [("request", "Put a red one on my left."), ("unread", "Blah?"), ("unread", "It is snowing.")]
    assert found == [(kind, words, words) for kind, words in due]
