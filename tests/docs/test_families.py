"""A family from another distribution: installed, played, read, judged, seen; and what each of ours brings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analytics.query import query
from schemas.families import FAMILIES, MODULES, module
from schemas.store.store import Store
from tests.places import DOCS, ROOT

PAGES = """
import os
from dashboards.address import Address
from dashboards.pages import pages
from dashboards.reader import reader
from schemas.store.store import Store
store = Store(os.environ["COTRACE_STORE"])
with store.reading() as connection:
    (episode,), *_ = connection.execute("SELECT episode_id FROM episodes ORDER BY 1").fetchall()
for page in pages():
    if sys.argv[2] == "few" and page.PATH not in ("/game", "/lockbox"):
        continue
    address = Address(page.PATH, {"episode": (episode,), "turn": ("1",)} if page.PATH == "/game" else {})
    with reader(store, address) as read:
        print(page.PATH, page.content(read))
"""
"""Prints what the pages of a store show: `all`, or `few` of them, the family's own among them."""

SCORES = "SELECT model, avg(score) AS score, bool_and(success) AS won FROM episodes GROUP BY 1 ORDER BY 1"
ANSWERS = (
    "SELECT model, avg(v.score) AS mean FROM verdicts v JOIN episodes USING (episode_id) WHERE status = 'answered' GROUP BY 1 ORDER BY 1"
)


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the package of docs/lockbox is installed beside cotrace."""
    folder = tmp_path_factory.mktemp("lockbox")
    source = shutil.copytree(DOCS / "lockbox", folder / "source")
    site = folder / "site"
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]), "COTRACE_STORE": str(folder / "s.duckdb")}


COMMANDS = """
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from click.testing import CliRunner
from cotrace.cli import cli
for arguments in json.loads(sys.argv[1]):
    print(json.dumps(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout))
with redirect_stdout(StringIO()) as drawn:
    exec(sys.argv[3])
print(json.dumps(drawn.getvalue()))
"""
"""Prints what each of several commands prints, and what the pages show then."""


def cotrace(installed: dict[str, str], shown: str, *commands: list[str]) -> list[str]:
    """What the commands print to stdout, called one after the other in a process of the environment, then the pages; all must end well."""
    call = [sys.executable, "-c", COMMANDS, json.dumps(commands), shown, PAGES]
    done = subprocess.run(call, env=installed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shown", ["few", pytest.param("all", marks=pytest.mark.long)])
def test_a_family_of_another_distribution_is_played_read_judged_and_seen(shown: str, installed: dict[str, str], tmp_path: Path) -> None:
    """Its replay, checks, rubric, failure kinds, page and drawing all come into play, and nothing of cotrace names it."""
    helped, *_, families, drawn = cotrace(
        installed,
        shown,
        ["play", "--help"],
        ["play", "lockbox", "--games", "6", "--out", str(tmp_path)],
        ["ingest", str(tmp_path)],
        ["judge", "--rubric", "lockbox_tells", "--judge", "engine"],
        ["report", "families", "--format", "json"],
    )
    assert "lockbox" in helped
    (family,) = json.loads(families)
    assert (family["benchmark"], family["games"], family["commonest_failure"]) == ("lockbox", 12, "wrong_inference")
    store = Store(Path(installed["COTRACE_STORE"]))
    games = query(store, SCORES).to_dicts()
    assert games[0] == {"model": "clear", "score": 1.0, "won": True}
    assert games[1]["score"] < 1
    scores = query(store, ANSWERS).to_dicts()
    assert (scores[0]["mean"], scores[1]["mean"] < 1) == (1.0, True)
    assert "of the digits in 6 games" in drawn
    assert "tried " in drawn


def test_the_page_of_families_lists_what_each_brings_and_lacks() -> None:
    """The table of docs/families.md is what the rooms hold."""
    page = (DOCS / "families.md").read_text(encoding="utf-8")
    for room, name, _ in MODULES:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{room}/<family>/{name}` "))
        cells = [cell.strip() for cell in row.strip("|").split("|")][2:]
        assert cells == ["yes" if module(family.name, room, name) else "–" for family in FAMILIES]
