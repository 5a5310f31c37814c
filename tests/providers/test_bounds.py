"""What a server may send, to every client that asks a model: read with the clients themselves, from a server that sends too much."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from yarl import URL

from games.coordination.qa.ask import AskRequest, ask_questions
from games.coordination.qa.questions import QUESTION_FILE
from providers.faults import Fault, HopelessError
from providers.provider import ModelSettings
from providers.wire import Counted, redirected
from tests.games.coordination.test_coordination_ask import question_file
from tests.servers.stub_server import stub_server


def _questions(folder: Path, url: str) -> AskRequest:
    settings = ModelSettings(model="openai/x", base_url=url)
    return AskRequest(questions=question_file(folder / QUESTION_FILE), out=folder / "answers", settings=settings, trials=1, concurrency=1)


@pytest.mark.parametrize("fault", ["endless", "bomb"])
def test_asking_coordination_questions_is_bounded(tmp_path: Path, fault: str) -> None:
    """Three such replies are three failed requests; the next start asks again."""
    with stub_server("--fault", f"{fault}:1:3") as url:
        assert ask_questions(_questions(tmp_path, url))[:3] == (6, 0, 3)
        assert ask_questions(_questions(tmp_path, url))[:3] == (3, 3, 0)


def test_asking_coordination_questions_stays_with_the_server(tmp_path: Path) -> None:
    """A redirect to another host ends the run, with the address to check."""
    elsewhere = r"127\.0\.0\.1 sends requests on to http://local"
    with stub_server("--fault", "elsewhere:1:99") as url, pytest.raises(HopelessError, match=elsewhere):
        ask_questions(_questions(tmp_path, url))


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("https://first.example/there", True),
        ("/there", True),
        ("//second.example/there", False),
        ("http://first.example:8080/there", False),
        ("http://first.example@second.example/there", False),
    ],
)
def test_which_redirects_are_followed(location: str, *, followed: bool) -> None:
    """Within a host, and to its encrypted side; nowhere else."""
    here = URL("http://first.example/")
    if followed:
        there = redirected(here, location)
        assert (there.host, there.path) == ("first.example", "/there")
    else:
        with pytest.raises(HopelessError):
            redirected(here, location)


def test_nothing_comes_down_from_https() -> None:
    """A redirect that would show the key on the wire is not followed."""
    with pytest.raises(HopelessError):
        redirected(URL("https://first.example/"), "http://first.example/")


@pytest.mark.parametrize(("encoding", "pack"), [("", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_body_at_the_limit_comes_whole_and_one_byte_more_does_not(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """What counts is what it is unpacked."""
    packed = pack(b"x" * 1000)
    assert Counted(1000, encoding).take(packed) == b"x" * 1000
    with pytest.raises(Fault, match="more than 999 bytes"):
        Counted(999, encoding).take(packed)
