"""The wheel, installed without pins into fresh environments outside of the source, with the oldest and the newest pip and Python.

Takes minutes and needs the package index: `make test-install`.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.installation.building import Environment, build, interpreter
from tests.judges.judged_games import counted
from tests.places import ROOT
from tests.servers.stub_server import stub_server

pytestmark = [pytest.mark.installation, pytest.mark.timeout(1800)]

OLDEST, NEWEST = "3.11", "3.13"

FOREIGN = """
from pathlib import Path
import sys
room = Path(sys.argv[1]) / "judges"
room.mkdir(exist_ok=True)
(room / "base_of_another.py").write_text("")
(room / "__init__.py").write_text("from judges.base_of_another import *")
"""
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"

PAGE = """
import sys
from cotrace import Store
from dashboards.app import create_app
client = create_app(Store(sys.argv[1])).server.test_client()
for path in ("/", "/leaderboard", "/spirals"):
    print(path, client.get(path).status_code)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Source archive and wheel."""
    return build(tmp_path_factory.mktemp("built"))


def test_archives_are_complete(built: tuple[Path, Path]) -> None:
    """The source archive holds all that git tracks; the wheel all files of the rooms, and the docs."""
    archive, wheel = built
    with tarfile.open(archive) as packed:
        sources = {name.partition("/")[2] for name in packed.getnames()}
    with zipfile.ZipFile(wheel) as zipped:
        installed = set(zipped.namelist())
    tracked = {str(path.relative_to(archive.parent / "source")) for path in (archive.parent / "source").rglob("*") if path.is_file()}
    assert tracked - sources == {".gitignore"}
    rooms = {name for name in tracked if (ROOT / name.split("/")[0] / "__init__.py").is_file() and not name.startswith("tests/")}
    assert rooms - installed == set()
    assert any(name.endswith("share/doc/cotrace/docs/python.md") for name in installed)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_wheel_works_away_from_its_source(built: tuple[Path, Path], tmp_path: Path, python: str) -> None:
    """Games, verdicts by proof and by a model, a report, pages."""
    there = Environment(tmp_path, interpreter(python))
    there.install(f"{built[1]}[judge,dash]")
    there.cotrace("demo", "--no-serve", "--games", "1")
    store = there.work / "demo" / "cotrace.duckdb"
    with stub_server() as url:
        there.cotrace(
            *("judge", "--rubric", "pragmatic_sufficiency", "--repeats", "1", "--where", "turn = 1", "--store", str(store)),
            *("--model", "openai/gpt-4o-mini", "--base-url", url),
        )
        assert counted(url)["answers"] > 0
    rows = json.loads(there.cotrace("sql", "SELECT DISTINCT judge FROM verdicts", "--format", "json", "--store", str(store)).stdout)
    assert {"judge": "llm:openai/gpt-4o-mini"} in rows
    assert there.python("-c", PAGE, str(store)).stdout.split() == ["/", "200", "/leaderboard", "200", "/spirals", "200"]
    assert "<html" in there.cotrace("report", "all", "--format", "html", "--store", str(store)).stdout


def test_the_oldest_and_the_newest_pip_install_the_same(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Of judges and dashboard: bounds leave neither a choice of old releases."""
    found = []
    for name, newest_pip in (("bundled", False), ("newest", True)):
        there = Environment(tmp_path / name, interpreter(OLDEST), newest_pip=newest_pip)
        there.install(f"{built[1]}[judge,dash]")
        found.append(there.versions())
    assert found[0] == found[1]


def test_the_core_says_which_extra_brings_the_rest(built: tuple[Path, Path], tmp_path: Path) -> None:
    """It reads logs, judges by proof, queries and reports; what it cannot do is one line."""
    there = Environment(tmp_path, interpreter(OLDEST))
    there.install(str(built[1]))
    there.cotrace(
        "play",
        "craft",
        "--player",
        "directors=script:vague",
        "--player",
        "builder=script:literal",
        "--games",
        "1",
        "--turns",
        "6",
        "--out",
        "logs",
    )
    there.cotrace("ingest", "logs")
    there.cotrace("judge", "--rubric", "spatial_grounding", "--judge", "engine")
    assert there.cotrace("report", "judges", "--format", "csv").stdout.count("\n") > 1
    for extra, command in {
        "judge": ("judge", "--rubric", "mast", "--model", "openai/gpt-4o-mini", "--base-url", "http://127.0.0.1:1/v1"),
        "dash": ("dash",),
        "optimize": ("optimize", "mast", "--labels", "truth", "--model", "openai/gpt-4o-mini"),
    }.items():
        told = there.cotrace(*command, expect=2).stderr.strip().splitlines()[-1]
        assert told.startswith("cotrace: "), told
        assert f'pip install "cotrace[{extra}]"' in told


@pytest.mark.parametrize("foreign_is_first", [True, False])
def test_a_foreign_package_of_a_rooms_name_is_told(built: tuple[Path, Path], tmp_path: Path, *, foreign_is_first: bool) -> None:
    """In whichever order both came, by the command in one line and by `import cotrace` as an ImportError."""
    there = Environment(tmp_path, interpreter(NEWEST))
    site = there.python("-c", SITE).stdout.strip()
    if foreign_is_first:
        there.python("-c", FOREIGN, site)
    there.install("--no-deps", "click", str(built[1]))
    if not foreign_is_first:
        there.python("-c", FOREIGN, site)
    told = there.cotrace("--version", expect=2).stderr
    assert told.startswith("cotrace: another distribution ")
    assert told.endswith("install cotrace into an environment of its own\n")
    assert told.count("\n") == 1
    assert "ImportError: another distribution" in there.python("-c", "import cotrace", expect=1).stderr
