"""The commands of the kill matrix: what there is before, the command, and the server it asks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final, NamedTuple

from tests.servers.simulated_reader import SimulatedReader, simulated_reader
from tests.servers.stub_server import stub_server
from tests.servers.tunable_judge import TunableJudge, tunable_judge


class Scenario(NamedTuple):
    """A command that is killed."""

    name: str
    prepare: Callable[[], None]
    """Makes what there is before, in the current folder."""
    words: tuple[str, ...]
    """The command; {url} and {episode} are filled in."""
    served: Callable[[Path], AbstractContextManager[str]] = lambda _: nullcontext("")
    """The server that it asks; gets the folder."""
    in_flight: int = 0
    """Requests that a kill may cost, at most."""


def _cotrace(*words: str) -> None:
    from cotrace.cli import main

    try:
        main(words)
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{words} ended with {ended.code}") from None


def _logs() -> None:
    _cotrace(
        "play",
        "craft",
        "--player",
        "directors=script:clear",
        "--player",
        "directors=script:vague",
        "--player",
        "builder=script:oracle_follower",
        "--games",
        "3",
        "--turns",
        "5",
        "--out",
        "logs",
    )


def _store() -> None:
    _logs()
    _cotrace("ingest", "logs", "--store", "s.duckdb", "--workers", "1")


def _judged() -> None:
    _store()
    for rubric in ("spatial_grounding", "pragmatic_sufficiency"):
        _cotrace("judge", "--rubric", rubric, "--judge", "engine", "--store", "s.duckdb")


def _judged_lake() -> None:
    _judged()
    _cotrace("lake", "from", "s.duckdb", "--store", "lake:lake")


def _read_lake() -> None:
    _logs()
    _cotrace("ingest", "logs", "--store", "lake:lake", "--workers", "1")


def _questions() -> None:
    from tests.games.coordination.test_coordination_ask import question_file

    question_file(Path("questions.csv"))


def _labels() -> None:
    _store()
    import duckdb

    with duckdb.connect("s.duckdb", read_only=True) as connection:
        games = [row[0] for row in connection.execute("SELECT episode_id FROM episodes ORDER BY 1").fetchall()]
    lines = [f"pragmatic_sufficiency,PS1,ann,yes,{game},{turn}" for game in games for turn in (1, 2, 3)]
    Path("labels.csv").write_text("\n".join(["rubric,question,annotator,answer,episode_id,turn", *lines]) + "\n", encoding="utf-8")


def _labelled() -> None:
    from tests.judges.optimization.test_optimize import labelled_store

    labelled_store(Path.cwd())


def _replayed() -> None:
    _store()
    import duckdb

    with duckdb.connect("s.duckdb", read_only=True) as connection:
        Path("episode").write_text(str(connection.execute("SELECT min(episode_id) FROM episodes").fetchall()[0][0]), encoding="utf-8")


@contextmanager
def _seats() -> Iterator[str]:
    import subprocess

    command = [sys.executable, "-m", "tests.servers.seat_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/slow/v1"
        process.kill()


def _learning() -> TunableJudge:
    return TunableJudge(yes=r"number \d*[02468]\b", learns_from="Mind", proposals=["Take your time.", "Mind the parity."])


def _reader(folder: Path) -> AbstractContextManager[str]:
    deadline = time.monotonic() + 1
    while not (folder / "s.duckdb").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return simulated_reader(SimulatedReader(store=folder / "s.duckdb"))


_PAIR: Final = ("--player", "all=openai/stub", "--base-url", "{url}", "--concurrency", "2")
_OPTIMIZE: Final = ("optimize", "places", "--rubrics", ".", "--store", "s.duckdb", "--model", "local/judge", "--base-url", "{url}", "--out")

SCENARIOS: Final = (
    Scenario("ingest", _logs, ("ingest", "logs", "--store", "s.duckdb", "--workers", "1")),
    Scenario("judge, engine", _store, ("judge", "--rubric", "mind_modeling", "--judge", "engine", "--store", "s.duckdb")),
    Scenario(
        "judge, model",
        _store,
        (
            "judge",
            "--rubric",
            "pragmatic_sufficiency",
            "--model",
            "local/m",
            "--base-url",
            "{url}",
            "--concurrency",
            "4",
            "--store",
            "s.duckdb",
        ),
        lambda _: stub_server("--latency-ms", "20"),
        in_flight=4,
    ),
    Scenario("play, scripts", lambda: None, ("play", "einstein", "--games", "4", "--turns", "10", "--out", "logs")),
    Scenario(
        "play, models",
        lambda: None,
        ("play", "asympuzl", "--size", "3", "--games", "3", *_PAIR, "--out", "logs"),
        lambda _: _seats(),
        in_flight=2,
    ),
    Scenario("attribute", _store, ("attribute", "--store", "s.duckdb")),
    Scenario("claims, rules", _store, ("claims", "--store", "s.duckdb", "--format", "csv")),
    Scenario(
        "claims, model",
        _store,
        ("claims", "--reader", "llm:local/m", "--base-url", "{url}", "--concurrency", "4", "--store", "s.duckdb", "--format", "csv"),
        _reader,
        in_flight=4,
    ),
    Scenario(
        "optimize",
        _labelled,
        (*_OPTIMIZE, "better.yaml", "--labels", "people", "--optimizer", "bootstrap", "--candidates", "2", "--concurrency", "4"),
        lambda _: tunable_judge(_learning()),
        in_flight=4,
    ),
    Scenario("export, Parquet", _judged, ("export", "--to", "out", "--views", "--store", "s.duckdb")),
    Scenario("export, dataset", _judged, ("export", "--to", "out", "--format", "dataset", "--store", "s.duckdb")),
    Scenario("labels import", _labels, ("labels", "import", "labels.csv", "--store", "s.duckdb")),
    Scenario("forget", _judged, ("forget", "--rubric", "spatial_grounding", "--yes", "--store", "s.duckdb")),
    Scenario(
        "replay",
        _replayed,
        ("replay", "{episode}", "--turn", "2", "--player", "all=script:plain", "--repeats", "3", "--out", "replays", "--store", "s.duckdb"),
    ),
    Scenario("probe", _store, ("probe", "spatial_grounding", "--kind", "layer", "--judge", "engine", "--store", "s.duckdb")),
    Scenario(
        "play, CoordinationQA",
        _questions,
        ("play", "coordqa", "questions.csv", "--model", "openai/stub", "--base-url", "{url}", "--concurrency", "2", "--out", "out"),
        lambda _: stub_server(),
        in_flight=2,
    ),
    Scenario("ingest, lake", _logs, ("ingest", "logs", "--store", "lake:lake", "--workers", "1")),
    Scenario("judge, lake", _read_lake, ("judge", "--rubric", "mind_modeling", "--judge", "engine", "--store", "lake:lake")),
    Scenario("lake from", _judged, ("lake", "from", "s.duckdb", "--store", "lake:lake")),
    Scenario("lake to", _judged_lake, ("lake", "to", "copy.duckdb", "--store", "lake:lake")),
)
