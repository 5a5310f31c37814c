"""Every client that asks models, through the whole table of misbehaviours: judge, reader, CoordinationQA, players."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from games.coordination.qa.ask import AskRequest, ask_questions
from games.coordination.qa.questions import QUESTION_FILE
from judges.claims.job import read_texts
from judges.claims.texts import ReadingRequest
from judges.runs.runner import run
from providers.faults import HopelessError
from providers.provider import ModelSettings
from tests.games.coordination.test_coordination_ask import question_file
from tests.games.seats import play, seat_server, turns
from tests.judges.judged_games import ask_model, store_of, verdict_counts
from tests.servers.misbehaviours import MISBEHAVIOURS, Misbehaviour, dealing
from tests.servers.simulated_reader import SimulatedReader, simulated_reader
from tests.servers.stub_server import stub_server


class Client(NamedTuple):
    """Who asks."""

    served: Callable[[Path], AbstractContextManager[str]]
    """The server that answers well; gets a folder."""
    ask: Callable[[str, Path], object]
    """Does the whole job with the server at a URL, in a folder; gives what must not depend on how the server behaves."""


def judge(url: str, folder: Path) -> object:
    store = store_of(folder / "s.duckdb", turns=14)
    run(ask_model(url, tries=6, patience_s=20.0), store)
    return verdict_counts(store)


def read(url: str, folder: Path) -> object:
    store = store_of(folder / "s.duckdb", turns=2)
    report = read_texts(ReadingRequest(settings=ModelSettings(model="local/stub", base_url=url, max_tokens=100), concurrency=8), store)
    with store.reading() as connection:
        return report.read, connection.execute("SELECT count(*), count(DISTINCT (turn, seq)) FROM claims").fetchall()


@contextmanager
def reader(folder: Path) -> Iterator[str]:
    store = store_of(folder / "target.duckdb", turns=2)
    with simulated_reader(SimulatedReader(store=store.path)) as url:
        yield url


def answer(url: str, folder: Path) -> object:
    settings = ModelSettings(model="local/m", base_url=url, tries=6)
    asked = AskRequest(questions=question_file(folder / QUESTION_FILE), out=folder / "answers", settings=settings, trials=1, concurrency=8)
    return ask_questions(asked)[:3]


@contextmanager
def seats(_: Path) -> Iterator[str]:
    with seat_server("script") as address:
        yield f"{address}/v1"


def take_seats(url: str, folder: Path) -> object:
    done = play("asympuzl", folder / "logs", ["all=openai/stub"], "--size", "3", "--games", "3", "--base-url", url)
    if done.returncode:
        raise HopelessError(done.stderr)
    return turns(folder / "logs")


CLIENTS: Final = {
    "judge": Client(lambda _: stub_server(), judge),
    "reader": Client(reader, read),
    "CoordinationQA": Client(lambda _: stub_server(), answer),
    "player": Client(seats, take_seats),
}
_NAMES: Final = [one.name for one in MISBEHAVIOURS if one.must != "stop"]
PASSING: Final = [_NAMES[start : start + 7] for start in range(0, len(_NAMES), 7)]
"""So few at a time that nearly every client has a prompt for each."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("passing", PASSING, ids=lambda names: names[0])
@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_goes_on_as_if_the_server_had_behaved(name: str, passing: Sequence[str], tmp_path: Path) -> None:
    """Each prompt meets the next misbehaviour of the table, once: the outcome is that of a good server, and costs one more request each."""
    client = CLIENTS[name]
    for folder in ("target", "well", "badly"):
        (tmp_path / folder).mkdir()
    with client.served(tmp_path / "target") as target:
        expected = client.ask(target, tmp_path / "well")
        with dealing(passing, target) as (url, dealt):
            assert client.ask(url, tmp_path / "badly") == expected
    assert set(dealt.faults) == set(passing[: len(dealt.requests)])
    assert dealt.requests.total() == len(dealt.requests) + dealt.faults.total()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("wrong", [one for one in MISBEHAVIOURS if one.must == "stop"], ids=lambda one: one.name)
@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_stops_with_one_line_where_no_request_can_succeed(name: str, wrong: Misbehaviour, tmp_path: Path) -> None:
    """It says what to mend, and the server is not asked for every unit."""
    client = CLIENTS[name]
    (tmp_path / "target").mkdir()
    with client.served(tmp_path / "target") as target, dealing([wrong.name], target) as (url, dealt):
        with pytest.raises(HopelessError, match=wrong.says) as stopped:
            client.ask(url, tmp_path)
        assert len(str(stopped.value).strip().splitlines()) == 1
    assert 1 <= dealt.requests.total() <= 9
