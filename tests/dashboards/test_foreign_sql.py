"""SQL of visitors is stopped whatever it does, and costs other visitors nothing: real queries through the dashboard's own server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from flask.testing import FlaskClient

from analytics.query import query
from dashboards import foreign_sql
from dashboards.app import create_app
from schemas.common.errors import UsageError
from schemas.store.store import Store

ENDLESS = {
    "rows": "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3",
    "a function that heeds no interrupt": "SELECT levenshtein(repeat('a', 400000), repeat('b', 400000))",
    "a function, before there is a row": "SELECT levenshtein(repeat('a', 400000), repeat('b', 400000)) FROM games LIMIT 0",
}
TOO_MUCH = {
    "long texts": "SELECT repeat('x', 10000000) FROM range(60)",
    "one long text": "SELECT repeat('x', 100000000)",
    "long texts under way": "SELECT max(length(repeat('x', 100000000 + range::INT))) FROM range(2000)",
    "a long list": "SELECT list(range) FROM range(1000000000)",
}


@pytest.fixture(scope="module")
def browser(played: Store) -> FlaskClient:
    """The dashboard, without a browser's drawing."""
    client: FlaskClient = create_app(played).server.test_client()
    return client


@pytest.fixture(autouse=True)
def _none_under_way() -> Iterator[None]:
    """A query that a test leaves to itself ends before the next."""
    yield
    for _ in range(200):
        if foreign_sql._CHILDREN._asking._value == 4:
            return
        time.sleep(0.05)


def page(browser: FlaskClient, sql: str) -> str:
    """The SQL page of a query, as a file."""
    return browser.get("/-/page.html", query_string={"at": f"/sql?{urlencode({'query': sql})}"}).get_data(as_text=True)


def table(browser: FlaskClient, sql: str) -> tuple[int, str]:
    """The rows of a query as CSV."""
    answer = browser.get("/-/table.csv", query_string={"table": "sql", "query": sql})
    return answer.status_code, answer.get_data(as_text=True)


def memory() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in ENDLESS.items()])
def test_a_query_that_never_ends_is_stopped(sql: str, browser: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the page and as a file, whether DuckDB can be interrupted or not."""
    monkeypatch.setattr(foreign_sql, "_LONGEST_S", 0.7)
    began = time.monotonic()
    status, text = table(browser, sql)
    assert (status, "stopped after 0.7 s" in text) == (400, True)
    assert time.monotonic() - began < 15
    assert "stopped after 0.7 s" in page(browser, sql)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in TOO_MUCH.items()])
def test_a_query_that_takes_too_much_is_stopped(sql: str, browser: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the answer nor the server's own memory grows with what it asks for."""
    monkeypatch.setattr(foreign_sql, "_most_memory", lambda: 2**29)
    monkeypatch.setattr(foreign_sql, "_BESIDES", 2**29)
    before = memory()
    text = page(browser, sql)
    assert any(reason in text for reason in ("the rows take more than 16 MiB", "it took more than 1.0 GiB", "more memory than DuckDB"))
    assert memory() - before < 2**28


def test_many_queries_at_once_leave_the_pages_to_others(browser: FlaskClient, played: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two run, two wait, the others are refused in one line; a page is drawn meanwhile, and afterwards all is as before."""
    monkeypatch.setattr(foreign_sql, "_LONGEST_S", 1.6)
    monkeypatch.setattr(foreign_sql, "_PATIENCE_S", 0.5)
    app: Any = browser.application
    answers: list[str] = []
    asking = [threading.Thread(target=lambda: answers.append(table(app.test_client(), ENDLESS["rows"])[1])) for _ in range(8)]
    for one in asking:
        one.start()
    time.sleep(0.3)
    began = time.monotonic()
    assert "games" in browser.get("/-/page.html", query_string={"at": "/runs"}).get_data(as_text=True)
    assert time.monotonic() - began < 4
    for one in asking:
        one.join(20)
    assert sum("which is the limit: try again" in answer for answer in answers) == 6
    assert sum("stopped after" in answer for answer in answers) == 2
    assert table(browser, "SELECT count(*) AS n FROM games") == (200, f"n\n{query(played, 'SELECT count(*) FROM games').item()}\n")


def test_what_a_child_gives_is_what_the_store_gives(browser: FlaskClient, played: Store) -> None:
    """Every type that crosses between the processes, and mistakes in the same words."""
    odd = (
        "SELECT 1::HUGEINT AS a, [1, NULL] AS b, {'x': 'y'} AS c, MAP {'k': 1.5} AS d, 'x'::ENUM('x', 'y') AS e, NULL AS f, "
        "TIMESTAMP '2026-01-01 12:00:00' AS g, DATE 'infinity' AS h, INTERVAL 3 DAYS AS i, '\\xAA'::BLOB AS j, 1.25::DECIMAL(9, 2) AS k"
    )
    assert foreign_sql.foreign_rows(played, odd).equals(query(played, odd))
    status, text = table(browser, "SELECT modle FROM games")
    assert (status, "modle" in text, text.count("\n")) == (400, True, 1)
    for forbidden in ("SELECT * FROM read_text('/etc/hostname')", "SELECT getenv('HOME')"):
        assert table(browser, forbidden)[0] == 400


@pytest.mark.long
def test_a_child_ends_with_its_server(played: Store) -> None:
    """Also with one that is killed, in the middle of a query."""
    code = (
        "import sys, threading, time; from dashboards import foreign_sql; from schemas.store.store import Store\n"
        f"store = Store({str(played.path)!r})\n"
        "foreign_sql.foreign_rows(store, 'SELECT 1')\n"
        f"threading.Thread(target=foreign_sql.foreign_rows, args=(store, {ENDLESS['rows']!r}), daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "import multiprocessing; print(multiprocessing.active_children()[0].pid, flush=True); time.sleep(60)"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    child = int(server.stdout.readline())
    server.kill()
    server.communicate()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_child_that_ends_as_its_query_comes_gives_one_line(played: Store) -> None:
    """Not a broken pipe; the next query has a child of its own."""
    child = foreign_sql._Child()
    child._process.kill()
    child._process.join()
    with pytest.raises(UsageError, match="ended its process"):
        child.rows(str(played.path), "SELECT 1", None, 1000)
    assert foreign_sql.foreign_rows(played, "SELECT 1 AS n")["n"].to_list() == [1]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_a_dashboard_that_is_ended_leaves_no_query_behind(number: signal.Signals, code: int, played: Store) -> None:
    """With eight endless queries others get their pages; the end takes them along. It aborted after 5 s, inside of Polars or DuckDB."""
    command = [sys.executable, "-m", "cotrace", "dash", "--store", str(played.path), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    link = re.search(r"http://[\w.:]+", process.stderr.readline())
    assert link is not None
    address = f"{link[0]}/-/page.html?"
    query_page = address + urlencode({"at": f"/sql?{urlencode({'query': ENDLESS['rows']})}"})

    def ask() -> None:
        with suppress(OSError, HTTPException):
            urlopen(query_page, timeout=60).read()  # noqa: S310 - a page of this machine

    asking = [threading.Thread(target=ask) for _ in range(8)]
    for one in asking:
        one.start()
    time.sleep(1)
    began = time.monotonic()
    assert b"games" in urlopen(address + urlencode({"at": "/runs"}), timeout=60).read()  # noqa: S310
    assert time.monotonic() - began < 15
    began = time.monotonic()
    process.send_signal(number)
    told = process.communicate(timeout=30)[1]
    assert (process.returncode, "Traceback" in told, "cotrace: ended by SIGTERM" in told) == (code, False, number == signal.SIGTERM), told
    assert time.monotonic() - began < 15
    deadline = time.monotonic() + 10
    while left := subprocess.run(["ps", "-o", "pid=,args=", "-s", str(process.pid)], capture_output=True, text=True, check=False).stdout:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    for one in asking:
        one.join(20)
