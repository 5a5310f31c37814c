"""Having a model read in a provider's batch: the same claims as asked directly, each text once, whatever ends the process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cotrace.cli import cli
from ingest.files.run import ingest_paths
from judges.claims.job import collect_readings, read_texts, submit_reading
from judges.claims.texts import ReadingRequest
from providers.provider import ModelSettings
from schemas.common.errors import CotraceError, UsageError
from schemas.store.store import Store
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play
from tests.servers.simulated_reader import SimulatedReader, simulated_reader
from tests.servers.stub_server import stub_server

CLAIMS = "SELECT * EXCLUDE (reader) FROM claims WHERE starts_with(reader, 'llm:') ORDER BY ALL"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A few texts whose claims are known."""
    folder = tmp_path_factory.mktemp("games")
    play(PlayRequest(out=folder / "logs", personas=("clear",), builders=("sloppy",), structures=1, seed=5, turns=2, processes=1))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store


@pytest.fixture
def store(games: Store, tmp_path: Path) -> Store:
    """The same, of one's own."""
    shutil.copy(games.path, tmp_path / "s.duckdb")
    return Store(tmp_path / "s.duckdb")


@pytest.fixture
def url(store: Store) -> Iterator[str]:
    """A model that reads without a mistake."""
    with simulated_reader(SimulatedReader(store=store.path)) as address:
        yield address


def asking(url: str, **options: Any) -> ReadingRequest:
    """All texts, by a model there."""
    return ReadingRequest(settings=ModelSettings(model="local/stub", base_url=url, max_tokens=100), **options)


def test_a_batch_reads_what_asking_directly_reads(store: Store, url: str, tmp_path: Path) -> None:
    """Nothing is stored while it is under way, nothing is asked twice meanwhile; then the claims and calls are those of a direct job."""
    direct = Store(shutil.copy(store.path, tmp_path / "direct.duckdb"))
    sent = submit_reading(asking(url), store)
    assert (sent.calls > 0, sent.read_before) == (True, 0)
    for start in (submit_reading, read_texts):
        with pytest.raises(UsageError, match="--collect"):
            start(asking(url), store)
    (early,) = collect_readings(store)
    assert (early.status, early.read) == ("in_progress", 0)
    (done,) = collect_readings(store)
    assert (done.status, done.read, done.failed) == ("completed", sent.texts, 0)
    assert collect_readings(store) == []

    read_texts(asking(url), direct)
    with store.reading() as one, direct.reading() as two:
        assert one.execute(CLAIMS).fetchall() == two.execute(CLAIMS).fetchall() != []
        calls = "SELECT count(*), sum(tokens_in), min(purpose), min(status) FROM calls"
        assert one.execute(calls).fetchall() == two.execute(calls).fetchall()
    assert read_texts(asking(url), store).read_before == sent.texts


def test_a_kill_while_submitting_or_collecting_loses_and_doubles_nothing(store: Store, url: str) -> None:
    """A batch whose id was never noted is found by its run; what was stored just before the kill is not stored again."""
    sent = submit_reading(asking(url), store)
    (record,) = (store.journals / "claims").glob("*.batch.json")
    noted = record.read_text()
    unnoted = noted.replace('"batch-0"', "null")
    assert unnoted != noted
    for before, status in ((unnoted, "in_progress"), (noted, "in_progress"), (noted, "completed"), (unnoted, "completed")):
        record.write_text(before)
        assert [one.status for one in collect_readings(store)] == [status]
    count = "SELECT count(*), (SELECT count(*) FROM calls) FROM claims WHERE kind = 'read' AND starts_with(reader, 'llm:')"
    with store.reading() as connection:
        assert connection.execute(count).fetchall() == [(sent.texts, sent.calls)]


@pytest.mark.long
def test_replies_that_are_no_readings_and_batches_that_are_none(store: Store) -> None:
    """Failed calls are asked again; a provider that says no leaves nothing in the way; a batch that never arrived is given up."""
    with simulated_reader(SimulatedReader(store=store.path, silent=True)) as url:
        sent = submit_reading(asking(url), store)
        collect_readings(store)
        (done,) = collect_readings(store)
        assert (done.read, done.failed) == (0, sent.calls)
        assert submit_reading(asking(url), store).calls == sent.calls
        (record,) = (store.journals / "claims").glob("*.batch.json")
        lost = record.read_text().replace('"batch-1"', "null")
        with simulated_reader(SimulatedReader(store=store.path)) as empty:
            record.write_text(lost.replace(url, empty))
            assert [one.status for one in collect_readings(store)] == ["lost"]
    with stub_server("--batches", "batch-refused") as url:
        for _ in range(2):
            with pytest.raises(CotraceError, match=r"no batches today.*without --batch"):
                submit_reading(asking(url), store)


def test_a_budget_limits_what_is_submitted(store: Store, url: str, tmp_path: Path) -> None:
    """Only calls whose highest cost fits are in the batch."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("local/stub: {input: 1.0, output: 10.0}\n")
    sent = submit_reading(asking(url, prices=prices, max_cost=0.006), store)
    assert 0 < sent.calls < sent.calls + sent.left_out


@pytest.mark.long
def test_the_commands(store: Store, url: str) -> None:
    """The engine's rubric submits its reading, `--collect` of either command gets it, and the same command then judges."""
    model = ["--reader", "llm:local/m", "--base-url", url]
    judge = ["judge", "--rubric", "mind_modeling", "--judge", "engine", *model]
    said = [
        CliRunner().invoke(cli, [*command, "--store", str(store.path)])
        for command in ([*judge, "--batch"], ["claims", "--collect"], ["judge", "--collect"], ["claims", "--collect"], judge)
    ]
    assert [done.exit_code for done in said] == [0] * 5
    for done, text in zip(
        said,
        ("calls in batch batch-0", "in_progress", "0 calls failed", "no batch of texts is waiting", "0 of"),
        strict=True,
    ):
        assert text in done.output
    assert "mind_modeling by engine:both:llm:local/m" in said[-1].output
