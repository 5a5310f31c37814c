"""`python -m benchmarks [NAME ...]`: runs all benchmarks, or those named, and prints their figures."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.figures import Figure, markdown, table

__all__ = ["main"]

NAMES: Final = ("ingest", "replay", "pages", "growth", "engines", "judge_run")
"""Modules of this folder, each what a user does; `run() -> list[Figure]`, or `main()` where it prints its figures itself."""

_PAGE: Final = "docs/benchmarks.md"
_PREFACE: Final = """# Benchmarks

Written by `python -m benchmarks --write`; `make bench` prints the same. Every figure is a ratio to a base that was measured in the same
run, on the same machine, in turns with it: medians over a few rounds. Times by themselves say little: other machines give others. A goal
that was not met says **no**."""


class Result(NamedTuple):
    """What came of one benchmark."""

    name: str
    about: str
    """The module's own account of what it measures."""
    figures: list[Figure]
    lines: str
    """What it printed itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks; 0, whether or not goals are met: figures are for reading, tests are for failing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Every figure is a ratio to a base measured in the same run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)}; all by default")
    parser.add_argument("--write", action="store_true", help=f"write the figures to {_PAGE}")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: there are {', '.join(NAMES)}")
    results = [_run(name) for name in asked.names or NAMES]
    if asked.write:
        Path(_PAGE).write_text(_page(results), encoding="utf-8")
    return 0


def _run(name: str) -> Result:
    module = import_module(f"benchmarks.{name}")
    about = (module.__doc__ or "").strip()
    print(f"\n{about.splitlines()[0]}\n", flush=True)
    began = time.perf_counter()
    result = Result(name, about, [], _printed(module.main)) if not hasattr(module, "run") else Result(name, about, module.run(), "")
    print(table(result.figures) if result.figures else result.lines.rstrip())
    print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    return result


def _printed(action: Callable[[], object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        action()
    return printed.getvalue()


def _page(results: Sequence[Result]) -> str:
    parts = [f"{_PREFACE}\n\nThis run: {_machine()}."]
    for result in results:
        shown = markdown(result.figures) if result.figures else f"```text\n{result.lines.rstrip()}\n```"
        parts.append(f"## {result.name.replace('_', ' ')}\n\n{result.about}\n\n{shown}")
    return "\n\n".join(parts) + "\n"


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory, Python {python}"


if __name__ == "__main__":
    sys.exit(main())
