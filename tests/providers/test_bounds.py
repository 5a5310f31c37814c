"""What a server may send, to every client that asks a model: read with the clients themselves, from a server that sends too much."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from games.coordination.qa.ask import AskRequest, ask_questions
from games.coordination.qa.questions import QUESTION_FILE
from judges.batches import ForeignRedirectError, bound
from providers.faults import HopelessError, OversizeError
from providers.provider import ModelSettings
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

    def serve(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/there":
            return httpx.Response(200, text=request.url.host)
        return httpx.Response(307, headers={"location": location})

    with httpx.Client(transport=httpx.MockTransport(serve), follow_redirects=True) as client:
        bound(client, 1000)
        if followed:
            assert client.get("http://first.example/").text == "first.example"
        else:
            with pytest.raises(ForeignRedirectError):
                client.get("http://first.example/")


def test_nothing_comes_down_from_https() -> None:
    """A redirect that would show the key on the wire is not followed."""
    serve = httpx.MockTransport(lambda _: httpx.Response(307, headers={"location": "http://first.example/"}))
    with httpx.Client(transport=serve, follow_redirects=True) as client:
        bound(client, 1000)
        with pytest.raises(ForeignRedirectError):
            client.get("https://first.example/")


@pytest.mark.parametrize(("encoding", "pack"), [("", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_body_at_the_limit_comes_whole_and_one_byte_more_does_not(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """What counts is what it is unpacked."""
    packed = pack(b"x" * 1000)

    def serve(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": encoding}, stream=httpx.ByteStream(packed))

    with httpx.Client(transport=httpx.MockTransport(serve)) as client:
        bound(client, 1000)
        assert client.get("http://x.example").content == b"x" * 1000
        bound(client, 999)
        with pytest.raises(OversizeError):
            client.get("http://x.example")
