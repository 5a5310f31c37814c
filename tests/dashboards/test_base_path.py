"""The dashboard under a path behind nginx, in a browser: what a page loads, its links, callbacks, cookie and files."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from schemas.store.store import Store
from tests.dashboards.test_access import TOKEN, Dash, dash

pytestmark = pytest.mark.browser

BASE = "/team/cotrace"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")

_CONFIG = """
daemon off; error_log stderr; pid {folder}/pid; worker_processes 1; events {{ }}
http {{
  access_log off; proxy_max_temp_file_size 0; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location {base}/ {{ proxy_pass http://127.0.0.1:{upstream}{cut}; proxy_set_header Host $http_host; }}
  }}
}}
"""


@contextmanager
def proxied(folder: Path, upstream: int, cut: str) -> Iterator[str]:
    """A proxy before a dashboard; gives the address of its overview. `cut`: "/" where nginx takes the path off, else nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(folder=folder, port=port, base=BASE, upstream=upstream, cut=cut))
    process = subprocess.Popen([str(NGINX), "-c", str(config), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with closing(socket.socket()) as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}{BASE}/"
    finally:
        process.terminate()
        process.wait(10)


needs_nginx = pytest.mark.skipif(NGINX is None, reason="needs Debian's nginx: apt-get install nginx")


@pytest.fixture(scope="module")
def served(played: Store) -> Iterator[Dash]:
    """The dashboard that knows its path."""
    with dash(played, "--base-path", BASE, COTRACE_TOKEN=TOKEN) as found:
        yield found


def test_a_token_of_ones_own(served: Dash) -> None:
    """Also for this machine alone, where others have accounts."""
    assert served.link == f"http://127.0.0.1:{served.port}{BASE}/?token={TOKEN}"
    assert served.ask(path=f"{BASE}/").status == 401
    assert served.ask("GET", f"{BASE}/?token={TOKEN}").status == 303


@needs_nginx
def test_a_proxy_may_take_the_path_off(served: Dash, tmp_path: Path) -> None:
    """The same links, cookie and files as where it keeps the path."""
    with proxied(tmp_path, served.port, "/") as site:
        through = served._replace(port=urlsplit(site).port or 0)
        opened = through.ask(path=f"{BASE}/game?token={TOKEN}&turn=2")
        assert (opened.status, opened.headers["Location"]) == (303, f"{BASE}/game?turn=2")
        assert f"Path={BASE}" in opened.headers["Set-Cookie"]
        crumb = opened.headers["Set-Cookie"].partition(";")[0]
        text = through.ask(path=f"{BASE}/game?turn=2", Cookie=crumb).text
        assert f'src="{BASE}/assets/theme.js"' in text
        assert through.ask(path=f"{BASE}/assets/theme.js", Cookie=crumb).status == 200
        assert through.ask(path=f"{BASE}/a/game", Cookie=crumb).status == 404
        refused = through.ask("POST", f"{BASE}/_dash-update-component", Cookie=crumb, Origin="http://evil.example", body=b"{}")
        assert refused.status == 403


@needs_nginx
@pytest.mark.parametrize("walk", ["short", pytest.param("long", marks=pytest.mark.long)])
def test_everything_of_a_page_stays_under_the_path(served: Dash, page: Page, tmp_path: Path, walk: str) -> None:
    """From the link with the token over links, a click on a figure, search, a query and a turn to files; nothing leaves the path."""
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    with proxied(tmp_path, served.port, "") as site:
        page.goto(f"{site}failures?token={TOKEN}")
        assert page.url == f"{site}failures"
        assert [cookie["path"] for cookie in page.context.cookies()] == [BASE]

        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        page.evaluate("""() => {
            const drawn = document.querySelector('.dash-graph:has(.js-plotly-plot)');
            const data = drawn.querySelector('.js-plotly-plot').data.flatMap((trace) => trace.customdata || []);
            dash_clientside.set_props(JSON.parse(drawn.id), { clickData: { points: [{ customdata: data[0] }] } });
        }""")
        page.wait_for_url(f"{site}turns?*")
        page.locator("main a[href*='game?']").first.wait_for()

        if walk == "long":
            page.locator("#search-words").fill("block")
            page.keyboard.press("Enter")
            page.wait_for_url(f"{site}search?q=block")
            page.locator("main a[href*='game?']").first.click()
            page.wait_for_url(f"{site}game?*")
            page.locator('[data-key="ArrowRight"]').first.click()
            page.reload()
            page.locator("main h1").first.wait_for()

        page.locator("#pages a", has_text="SQL").click()
        page.locator("textarea").fill("SELECT count(*) AS games FROM games")
        page.keyboard.press("Control+Enter")
        page.locator(".ag-cell").first.wait_for()
        with page.expect_download() as saving:
            page.locator(".table-links a", has_text="CSV").first.click()
        assert saving.value.path().read_text().splitlines()[1] == "9"
        if walk == "long":
            page.locator("#pages a", has_text="Games").click()
            page.locator(".ag-row a").first.click()
            page.wait_for_url(f"{site}game?*")
        page.wait_for_load_state("networkidle")
        page.goto("about:blank")
    assert not failed
    assert not [path for path in asked if path != "blank" and not path.startswith(f"{BASE}/")]


@pytest.mark.parametrize("path", ["cotrace?x", "/a b", "//a:b@c", "/a/../b?", "/ü"])
def test_a_path_that_is_none_is_refused(path: str, played: Store) -> None:
    """In one line."""
    from click.testing import CliRunner

    from cotrace.commands.dash import command

    done = CliRunner().invoke(command, ["--store", str(played.path), "--base-path", path])
    assert done.exit_code == 2
    assert "is not a path of letters, digits" in done.output
