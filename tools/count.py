"""Counts the code: files and lines of each package, and with `--journeys` the modules that one unit of work passes.

A journey is measured warm, under Python's profiler: one CRAFT log into a store, one request of a model judge (to a local server), one page.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PACKAGES = ("cotrace", "dashboards", "analytics", "judges", "ingest", "games", "providers", "schemas")
OTHERS = ("benchmarks", "research", "tools", "tests")


def sizes(package: str) -> tuple[int, int]:
    """Files and lines of Python and SQL, empty files left out."""
    texts = [path.read_text(encoding="utf-8") for kind in ("py", "sql") for path in (ROOT / package).rglob(f"*.{kind}")]
    return sum(bool(text) for text in texts), sum(text.count("\n") for text in texts)


def modules_of(action: Callable[[], object]) -> set[str]:
    """The modules of cotrace in which a function is called while the action runs, in its new threads too."""
    seen: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    names = {Path(name).relative_to(ROOT) for name in seen if name.startswith(f"{ROOT}/")}
    return {str(name) for name in names if name.parts[0] in PACKAGES}


def journeys() -> Iterator[tuple[str, set[str]]]:
    """Each journey with the modules that it passes."""
    from analytics.installation import ensure_installed
    from dashboards.address import Address
    from dashboards.drawing import draw_page
    from games.experiments.plan import play
    from ingest.files.run import ingest_paths
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest
    from judges.runs.runner import run
    from providers.provider import ModelSettings
    from schemas.store.store import Store

    with tempfile.TemporaryDirectory() as name, _server() as base_url:
        folder = Path(name)
        play("craft", folder / "logs", players=["directors=script:clear", "builder=script:literal"], games=2, turns=4)
        first, second = sorted((folder / "logs").rglob("*.jsonl"))[:2]
        store = Store(folder / "count.duckdb")
        ingest_paths([first], store, workers=1)
        yield "log to store", modules_of(lambda: ingest_paths([second], store, workers=1))
        ensure_installed(store)
        settings = ModelSettings(model="local/fake", base_url=base_url)
        of_turn = [JudgeRequest(rubric=find("spatial_grounding"), settings=settings, where=f"turn = {turn}") for turn in (1, 2)]
        run(of_turn[0], store)
        yield "judge request", modules_of(lambda: run(of_turn[1], store))
        address = Address.parse("/failures", "")
        draw_page(store, address)
        yield "page", modules_of(lambda: draw_page(store, address))


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-m", "tests.servers.stub_server"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--journeys", action="store_true", help="count the modules of three journeys")
    parser.add_argument("--list", action="store_true", help="name these modules")
    options = parser.parse_args()
    found = {package: sizes(package) for package in (*PACKAGES, *OTHERS)}
    print(f"{'package':<12}{'files':>7}{'lines':>9}")
    for package, (files, lines) in found.items():
        print(f"{package:<12}{files:>7}{lines:>9}")
    product = [found[package] for package in PACKAGES]
    print(f"{'product':<12}{sum(files for files, _ in product):>7}{sum(lines for _, lines in product):>9}")
    for name, modules in journeys() if options.journeys or options.list else ():
        print(f"{name}: {len(modules)} modules", *sorted(modules if options.list else ()), sep="\n  ")


if __name__ == "__main__":
    main()
