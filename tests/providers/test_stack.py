"""Judges ask through instructor, and what they answer passes Pandera: no protocol of a provider is written by hand."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from judges.runs.runner import run
from tests.judges.judged_games import ask_model, store_of, verdict_counts
from tests.servers.stub_server import stub_server

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("cotrace", "dashboards", "analytics", "judges", "ingest", "games", "providers", "schemas")
OWN_HTTP: Final = {"providers/wire.py"}
"""The transport of all clients."""
HTTP: Final = frozenset({"aiohttp", "http.client", "httpx", "requests", "urllib.request", "urllib3"})
PROTOCOL: Final = re.compile(r"chat/completions|v1/messages|:generateContent|/converse\b|choices\[0\]")
BATCH_LINE: Final = "/v1/chat/completions"
"""What a line of a batch has to name: no request goes there by hand."""


def called_by(action: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How often each function was called while an action ran, in all threads: by the name of its module, and its own."""
    calls: Counter[tuple[str, str]] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_globals.get("__name__", ""), frame.f_code.co_qualname] += 1

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def test_a_judge_run_goes_through_instructor_and_pandera(tmp_path: Path) -> None:
    """Its profile shows instructor's client and the provider's own for each unit, and Pandera before the store."""
    store = store_of(tmp_path / "s.duckdb", turns=3)
    with stub_server() as url:
        calls = called_by(lambda: run(ask_model(url), store))
    assert verdict_counts(store) == {"answered": 18}
    assert calls["instructor.v2.core.retry", "retry_async_v2"] >= 3
    assert calls["openai.resources.chat.completions.completions", "AsyncCompletions.create"] >= 3
    assert calls["pandera.api.polars.container", "DataFrameSchema.validate"] >= 1


def _found(path: Path) -> set[str]:
    """Names of HTTP packages that a module imports for more than types, and words of protocols in its texts, docstrings apart."""
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in HTTP) and not PROTOCOL.search(text):
        return set()
    tree = ast.parse(text)
    named: set[str] = set()
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names} & HTTP
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, f"{node.module}.{node.names[0].name}"} & HTTP
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents and node.value != BATCH_LINE:
            named |= {*PROTOCOL.findall(node.value)}
    return named


def test_no_protocol_is_written_by_hand() -> None:
    """Addresses and messages of providers are their own clients' affair; one module has the transport."""
    modules = [path for package in PRODUCT for path in (ROOT / package).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): _found(path) for path in modules}
    assert {name for name, what in found.items() if what} == OWN_HTTP
    assert not any(PROTOCOL.search(word) for what in found.values() for word in what)
