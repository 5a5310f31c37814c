"""Who gets answers from `cotrace dash`: asked over HTTP, in a process of its own, as a page elsewhere on the web would ask."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from schemas.store.store import Store
from tests.command_line import called
from tests.judges.judged_games import store_of

TOKEN = "abcdefghijklmnop0123"  # noqa: S105 - what a user would choose
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what needs a token
UPDATE = "/_dash-update-component"


class _Answer(NamedTuple):
    status: int
    text: str
    headers: Mapping[str, str]


class Dash(NamedTuple):
    """The command while it runs."""

    port: int
    link: str
    process: subprocess.Popen[str]

    def ask(self, method: str = "GET", path: str = "/", *, host: str | None = None, body: bytes | None = None, **headers: str) -> _Answer:
        """Of a request."""
        names = {
            "Host": host if host is not None else f"127.0.0.1:{self.port}",
            **{name.replace("_", "-"): text for name, text in headers.items()},
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.putrequest(method, path, skip_host=True)
            for name, text in (names | ({"Content-Length": str(len(body))} if body is not None else {})).items():
                connection.putheader(name, text)
            connection.endheaders(body)
            with connection.getresponse() as found:
                return _Answer(found.status, found.read().decode(errors="replace"), dict(found.getheaders()))

    def post(self, content: object, **headers: str) -> _Answer:
        """Of a callback's request."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.ask("POST", UPDATE, body=body, **{"Content_Type": "application/json", **headers})


_PROGRAM = "from dashboards import server; server.draw_ahead = lambda *_: True; from cotrace.cli import main; main()"
"""Draws no page ahead, which would take longer than all that is asked here."""


@contextmanager
def dash(store: Store, *options: str, **variables: str) -> Iterator[Dash]:
    """The command, until the block is left; nothing it writes may be a traceback."""
    command = [sys.executable, "-c", _PROGRAM, "dash", "--store", str(store.path), "--port", "0", *options]
    environment = {name: text for name, text in os.environ.items() if name not in {"COTRACE_DEBUG", "COTRACE_TOKEN"}}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment | variables)
    assert process.stderr is not None
    before = ""
    while not (link := re.search(r"dashboard over .*: (http\S+)", line := process.stderr.readline())):
        before += line
        assert line, before
    try:
        yield Dash(urlsplit(link[1]).port or 0, link[1], process)
    finally:
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=30)[1]
    assert (process.returncode, "Traceback" in told) == (0, False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One little game."""
    store = store_of(tmp_path_factory.mktemp("access") / "s.duckdb")
    Store.settle(store)
    return store


@pytest.fixture(scope="module")
def local(store: Store) -> Iterator[Dash]:
    """The dashboard as it is started by default."""
    with dash(store) as served:
        yield served


def callbacks(served: Dash) -> list[dict[str, Any]]:
    """What the dashboard says of its callbacks, those that run in the browser left out."""
    known: list[dict[str, Any]] = json.loads(served.ask("GET", "/_dash-dependencies").text)
    return [entry for entry in known if not entry["clientside_function"]]


def callback(found: dict[str, Any], values: list[Any], states: list[Any], part: str = "") -> dict[str, Any]:
    """A request as a page sends it, with those values of the inputs."""
    names = [name.rpartition(".") for name in found["output"].strip(".").split("...")]
    outputs = [{"id": _id(name, part), "property": prop.partition("@")[0]} for name, _, prop in names]
    inputs = [
        {"id": _id(one["id"], part), "property": one["property"], "value": value}
        for one, value in zip(found["inputs"], values, strict=True)
    ]
    return {
        "output": found["output"],
        "outputs": outputs if found["output"].startswith("..") else outputs[0],
        "inputs": inputs,
        "state": states,
        "changedPropIds": ["label-save.n_clicks"],
    }


def _id(pattern: str, part: str) -> Any:
    """The component that a pattern stands for: each of its parts the same."""
    if not pattern.startswith("{"):
        return pattern
    return {name: text if isinstance(text, str) else part for name, text in json.loads(pattern).items()}


def saving(served: Dash) -> dict[str, Any]:
    """The request with which the labelling page saves an answer to every question of a unit."""
    ids = [{"type": "label-answer", "question": f"PS{number}"} for number in range(1, 7)]
    asked = {"rubric": "pragmatic_sufficiency", "unit": "game-0/1", "group": 0}
    found = next(entry for entry in callbacks(served) if entry["inputs"][0]["id"] == "label-save")
    return callback(
        found,
        [1],
        [
            [{"id": one, "property": "value", "value": "yes"} for one in ids],
            [{"id": one, "property": "id", "value": one} for one in ids],
            {"id": "label-task", "property": "data", "value": asked},
            {"id": "address", "property": "search", "value": "?rubric=pragmatic_sufficiency&annotator=eve"},
        ],
    )


def labels_of_eve(store: Store) -> int:
    """How many labels the request above has left."""
    with store.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM labels WHERE annotator = 'eve'").fetchall()[0][0])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:9000", "[::1]:8050", "LOCALHOST", "127.8.8.8"])
def test_this_machine_is_answered(local: Dash, host: str) -> None:
    """By every name that it has for itself, through a tunnel's port too."""
    assert local.ask(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8050", "localhost.evil.example", "127.0.0.1.evil.example", EVERYWHERE, "10.0.0.1", "", "a b", "["],
)
@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/assets/base.css"])
def test_a_name_that_was_made_to_point_here_is_not(local: Dash, host: str, path: str) -> None:
    """DNS rebinding: the browser believes that it talks to the page's own server."""
    answer = local.ask("GET", path, host=host)
    assert answer.status in {400, 403}
    assert "cotrace</title>" not in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost.evil.example", "http://[::1", ""]
)
def test_other_pages_save_no_labels(local: Dash, store: Store, origin: str) -> None:
    """What saves for a page of ours does not for a page of others; the fields are the same."""
    answer = local.post(saving(local), Origin=origin)
    assert (answer.status, labels_of_eve(store)) == (403, 0)


def test_a_browser_that_says_where_it_comes_from_is_believed(local: Dash, store: Store) -> None:
    """Without Origin, Sec-Fetch-Site tells."""
    assert local.post(saving(local), Sec_Fetch_Site="cross-site").status == 403
    assert labels_of_eve(store) == 0


def test_our_own_pages_save_labels(local: Dash, store: Store) -> None:
    """The same request from the dashboard's own address."""
    answer = local.post(saving(local), Origin=f"http://127.0.0.1:{local.port}", Sec_Fetch_Site="same-origin")
    assert answer.status == 200, answer.text
    assert labels_of_eve(store) == 6
    with store.writing() as connection:
        connection.execute("DELETE FROM labels WHERE annotator = 'eve'")


def test_the_server_is_none_for_development(local: Dash) -> None:
    """Its name tells neither Python nor versions, and pages cannot be framed or sniffed by others."""
    headers = local.ask().headers
    assert headers["Server"] == "cotrace"
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_network_needs_the_token(store: Store) -> None:
    """It is in the link that is printed; once used, it lives in a cookie and not in the address."""
    with dash(store, "--host", EVERYWHERE) as served:
        token = parse_qs(urlsplit(served.link).query)["token"][0]
        assert len(token) >= 32
        for path in ("/", "/_dash-layout", "/?token=wrong", f"/?token={token[:-1]}", "/?token="):
            assert served.ask("GET", path, host="anywhere.example").status == 401, path
        assert served.post(saving_blindly()).status == 401

        opened = served.ask("GET", f"/game?turn=3&token={token}&model=a%26b", host="anywhere.example")
        assert (opened.status, opened.headers["Location"]) == (303, "/game?turn=3&model=a%26b")
        cookie = opened.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
        crumb = cookie.partition(";")[0]
        assert served.ask(host="anywhere.example", Cookie=crumb).status == 200
        assert served.ask(host="anywhere.example", Cookie=crumb, Origin="http://evil.example").status == 403
        assert served.ask("GET", f"//evil.example/?token={token}").headers["Location"] == "/evil.example/"
        assert labels_of_eve(store) == 0


def saving_blindly() -> dict[str, str]:
    """Anything that would have to be looked at."""
    return {"output": "page.children"}


def test_too_short_a_token_is_refused(store: Store) -> None:
    """In one line."""
    done = called("dash", "--token", "short", store=store)
    assert done.returncode == 2
    assert "could be guessed" in done.stderr


NONSENSE: list[Any] = [None, [], {}, "x", {"output": "x.y"}, {"output": 3}, b"{", b"", b"\xff", b"[" * 100_000, b'"\\ud800"']


@pytest.mark.parametrize("content", NONSENSE, ids=[str(one)[:12] for one in NONSENSE])
def test_requests_that_make_no_sense_are_told_so(local: Dash, content: object) -> None:
    """400, in one line; `dash` looks that the terminal shows no traceback either."""
    assert local.post(content).status == 400


@pytest.mark.parametrize(
    "value", [None, 5, "x", [5], {"a": 1}, [{"points": []}], [{"points": [{"customdata": [["/x"], 7]}]}], [[["deep"]]]], ids=str
)
def test_a_callback_with_other_values_than_a_page_sends(local: Dash, value: object) -> None:
    """Every callback of the dashboard, with values of every shape: an answer or a refusal, never a fault."""
    found = callbacks(local)
    assert len(found) >= 7
    for entry in found:
        for part in ("", "failures-counts"):
            states = [{"id": _id(one["id"], part), "property": one["property"], "value": value} for one in entry["state"]]
            for inputs, state in (([value] * len(entry["inputs"]), states), ([1] * len(entry["inputs"]), states)):
                answer = local.post(callback(entry, inputs, state, part))
                assert answer.status in {200, 204, 400}, (entry["output"], answer)


@pytest.mark.parametrize(
    ("asked", "status"),
    [({}, 200), ({"filterModel": [1]}, 400), ({"filterModel": {"a": [1]}}, 400), ({"sortModel": "a"}, 400), ({"startRow": -1}, 400)],
)
def test_what_a_grid_asks_for_may_make_no_sense(local: Dash, asked: dict[str, Any], status: int) -> None:
    """It is told so, and is no fault of ours."""
    found = next(entry for entry in callbacks(local) if "getRowsResponse" in entry["output"])
    values = [{"name": "sql", "part": "", "at": ""}, "/sql", "?query=SELECT 1 AS a"]
    states = [
        {"id": _id(one["id"], "sql"), "property": one["property"], "value": value}
        for one, value in zip(found["state"], values, strict=True)
    ]
    assert local.post(callback(found, [{"startRow": 0} | asked], states, "sql")).status == status


@pytest.mark.parametrize(
    "path", ["/assets/../../etc/passwd", "/_dash-component-suites/../x", "/_dash-component-suites/dash/..%2f..%2fx.js", "/%00", "/%ff"]
)
def test_odd_paths_are_no_faults(local: Dash, path: str) -> None:
    """Nothing outside the dashboard's own files is served, and nothing breaks."""
    answer = local.ask("GET", path)
    assert answer.status in {200, 400, 404}
    assert "root:" not in answer.text


def test_a_body_without_end_is_not_read(local: Dash) -> None:
    """More than a page could send is refused."""
    assert local.ask("POST", UPDATE, Content_Type="application/json", Content_Length=str(5 * 2**20)).status == 413


@pytest.mark.long
def test_a_port_that_is_taken_is_said_in_one_line(local: Dash, store: Store) -> None:
    """With the mend."""
    command = [sys.executable, "-c", "from cotrace.cli import main; main()", "dash", "--store", str(store.path), "--port", str(local.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "name another with --port" in done.stderr


def test_texts_of_logs_lead_nowhere(local: Dash) -> None:
    """A point's data may hold what a log says: only addresses of our own pages are followed."""
    for data, leads in (("//evil.example/x", False), ("/\\evil.example", False), ("/nowhere", False), ("/game?episode=1", True)):
        inputs = [{"id": {"type": "figure", "name": "f"}, "property": "clickData", "value": {"points": [{"customdata": [3, data]}]}}]
        found = next(entry for entry in callbacks(local) if '"figure"' in entry["inputs"][0]["id"])
        request = callback(found, [None], []) | {"inputs": [inputs], "changedPropIds": ['{"name":"f","type":"figure"}.clickData']}
        answer = local.post(request)
        assert (data in json.loads(answer.text or "{}").get("response", {}).get("address", {}).get("href", "")) is leads, answer


def test_the_served_files_are_ours(local: Dash) -> None:
    """The style sheet comes through the real server."""
    assert local.ask("GET", "/assets/base.css").text == (Path(__file__).parents[2] / "dashboards/assets/base.css").read_text("utf-8")
