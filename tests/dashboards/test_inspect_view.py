"""Our games in Inspect's own viewer: `inspect view` on an exported log, in a browser."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schemas.store.store import Store
from tests.places import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.long]


@contextmanager
def viewer(logs: Path, home: Path) -> Iterator[str]:
    """`inspect view` on a folder; gives its address."""
    pytest.importorskip("inspect_ai")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = shutil.which("inspect", path=str(Path(sys.executable).parent)) or "inspect"
    env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    server = subprocess.Popen([command, "view", "start", "--log-dir", str(logs), "--port", str(port)], env=env, cwd=home)
    try:
        for _ in range(600):
            with closing(socket.socket()) as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def export(store: Store, folder: Path) -> Path:
    """One game, by a process of its own: within the browser's loop inspect_ai would patch asyncio.run for all later tests."""
    program = [sys.executable, "-m", "cotrace", "export", "--store", str(store.path), "--to", str(folder), "--format", "inspect"]
    one = ["--where", "episode_id = (SELECT min(episode_id) FROM episodes)"]
    said = subprocess.run([*program, *one], cwd=ROOT, check=True, capture_output=True, text=True).stderr
    count, path = said.splitlines()[0].split(maxsplit=1)
    assert count == "1"
    return Path(path)


def test_verdicts_are_scores_in_inspects_viewer(played: Store, browser: Browser, tmp_path: Path) -> None:
    """The viewer lists a game as a sample with its messages, and the answers of the engine judge as scores by their questions."""
    path = export(played, tmp_path / "logs")
    with viewer(path.parent, tmp_path) as url:
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(url)
        page.get_by_role("tab", name="Scoring").click(timeout=60_000)
        text = page.locator("body")
        expect(text).to_contain_text("spatial_grounding.SG1 (engine)", timeout=30_000)
        assert "1 sample" in text.inner_text()
        assert not re.search(r"NaN|undefined", text.inner_text())
        page.close()
